// The main of every test executable that needs no privilege.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
