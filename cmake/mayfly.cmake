# mayfly_library(NAME SOURCES a.cpp ... LINK lib ...)     a static library of ours
# mayfly_program(NAME SOURCES a.cpp ... LINK lib ... [STATIC] [NOT_INSTALLED])  a program in build/<preset>/bin
# STATIC programs (builder, witness, helpers that run inside jails) are tiny and fully static, except under
# sanitizers, which need the dynamic runtime.
# Every program outside tests/ hangs from the target mayfly_programs, which is what an installation needs, except those
# that say NOT_INSTALLED: they exist for tests alone.
add_custom_target(mayfly_programs)
set(MAYFLY_TESTS_FOLDER ${CMAKE_SOURCE_DIR}/tests)

function(mayfly_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC mayfly_flags ${ARG_LINK})
endfunction()

function(mayfly_program name)
  cmake_parse_arguments(ARG "STATIC;NOT_INSTALLED" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE mayfly_flags ${ARG_LINK})
  if(ARG_STATIC AND NOT MAYFLY_SANITIZE)
    target_link_options(${name} PRIVATE -static)
  endif()
  cmake_path(IS_PREFIX MAYFLY_TESTS_FOLDER ${CMAKE_CURRENT_SOURCE_DIR} of_the_tests)
  if(NOT of_the_tests AND NOT ARG_NOT_INSTALLED)
    add_dependencies(mayfly_programs ${name})
    if(name STREQUAL "mayfly")
      install(TARGETS ${name} RUNTIME DESTINATION bin)
    else()
      install(TARGETS ${name} RUNTIME DESTINATION libexec/mayfly)
    endif()
  endif()
endfunction()
