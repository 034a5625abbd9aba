#include "jail/spec/result.h"

#include "jail/spec/escape.h"

namespace mayfly {

std::string reason_line(const Result& result) {
  std::string line = "mayfly: ending=" + std::string(name(result.ending));
  if (result.ending == Ending::Signalled && result.signal_number)
    line += " signal=" + signal_name(*result.signal_number);
  if (result.output_incomplete) line += " output=incomplete";
  line += " jail=" + result.id;
  if (!result.text.empty()) line += ": " + escape(result.text);
  return line;
}

}  // namespace mayfly
