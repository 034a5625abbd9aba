// Nothing of its own: the target that compiles Catch's header ahead for every test executable needs one source.
#include <catch2/catch.hpp>
