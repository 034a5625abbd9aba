// The two forms in which an examination is told.
#include <algorithm>

#include "jail/probe/containment.h"
#include "jail/spec/escape.h"
#include "jail/wire/result_json.h"

namespace mayfly {

std::string_view name(AttackVerdict verdict) {
  switch (verdict) {
    case AttackVerdict::Held:
      return "held";
    case AttackVerdict::Broken:
      return "broken";
    case AttackVerdict::NotProvable:
      return "not-provable";
    case AttackVerdict::Unlimited:
      return "unlimited";
  }
  return "?";
}

Json containment_json(const Containment& found) {
  Json json;
  json["sound"] = found.is_sound();
  json["kernel"] = found.host.kernel;
  json["root"] = found.host.root;
  json["cgroups"] = found.host.cgroups;
  json["controls"] = controls_json(found.controls);
  json["expected"] = Json::object();
  for (const HostControl& control : found.host.controls)
    json["expected"][std::string(name(control.control))] = {
        {"value", std::string(name(control.expected))}, {"cause", control.cause}, {"fix", control.fix}};
  json["required"] = Json::array();
  for (const Control control : kAllControls)
    if (found.host.required.has(control)) json["required"].push_back(std::string(name(control)));
  json["attacks"] = Json::array();
  for (const Attack& attack : found.attacks)
    json["attacks"].push_back({{"attack", attack.name},
                               {"verdict", std::string(name(attack.verdict))},
                               {"inside", attack.inside},
                               {"outside", attack.outside}});
  json["folders"] = Json::object();
  for (const ProfileFolders& shown : found.folders) json["folders"][shown.profile] = shown.folders;
  json["problems"] = found.problems;
  return json;
}

namespace {

std::string padded(std::string_view word, std::size_t width) {
  std::string text(word);
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

std::string controls_text(const Containment& found) {
  std::string text;
  for (const Control control : kAllControls) {
    text += "  " + padded(name(control), 13) + std::string(name(found.controls.at(control)));
    for (const HostControl& expected : found.host.controls) {
      if (expected.control != control || expected.cause.empty()) continue;
      text += "\n      why: " + escape(expected.cause, 600);
      if (!expected.fix.empty()) text += "\n      fix: " + escape(expected.fix, 600);
    }
    text += "\n";
  }
  return text;
}

std::string folders_text(const Containment& found) {
  std::string text;
  for (const ProfileFolders& shown : found.folders) {
    text += "  " + padded(shown.profile, 13);
    if (shown.folders.empty()) text += "no jail can be built";
    for (const std::string& folder : shown.folders)
      text += (&folder == &shown.folders.front() ? "" : ", ") +
              (folder == "readonly" ? "readonly at /data" : folder + " in the home directory");
    text += "\n";
  }
  return text.empty() ? text : "\nFolders of profiles, as a jail of each has them:\n" + text;
}

std::string attacks_text(const Containment& found, AttackVerdict verdict, const char* heading) {
  std::string text;
  for (const Attack& attack : found.attacks)
    if (attack.verdict == verdict)
      text += "  " + padded(attack.name, 24) + "inside: " + padded(escape(attack.inside), 24) +
              "outside: " + escape(attack.outside) + "\n";
  return text.empty() ? text : heading + text;
}

}  // namespace

std::string containment_text(const Containment& found) {
  const auto held = std::count_if(found.attacks.begin(), found.attacks.end(),
                                  [](const Attack& attack) { return attack.verdict == AttackVerdict::Held; });
  std::string text = "Linux " + escape(found.host.kernel) + ", " + (found.host.root ? "as root" : "not as root") +
                     ", cgroups: " + escape(found.host.cgroups) + "\n\nControls, measured on a jail:\n";
  text += controls_text(found) + folders_text(found);
  const auto broken = std::count_if(found.attacks.begin(), found.attacks.end(),
                                    [](const Attack& attack) { return attack.verdict == AttackVerdict::Broken; });
  text += "\nAttacks from inside: " + std::to_string(broken) + " got through, " + std::to_string(held) + " held, " +
          std::to_string(static_cast<std::ptrdiff_t>(found.attacks.size()) - held - broken) + " not provable here\n";
  text += attacks_text(found, AttackVerdict::Broken, "\nNOT HELD:\n");
  text +=
      attacks_text(found, AttackVerdict::NotProvable, "\nNot provable on this host (fails outside of a jail too):\n");
  text += attacks_text(found, AttackVerdict::Unlimited, "\nNot limited on this host:\n");
  for (const std::string& problem : found.problems) text += "\nPROBLEM: " + escape(problem);
  return text + (found.is_sound() ? "\nEverything is as it is reported.\n" : "\n");
}

}  // namespace mayfly
