// The main of every test executable that needs root.
#define CATCH_CONFIG_RUNNER
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/catch/skip.h"

int main(int argc, char** argv) {
  if (geteuid() != 0) return mayfly::test::skip("needs root");
  return Catch::Session().run(argc, argv);
}
