# libssh, and not any: plain upstream 0.10.6 lacks the fixes that Debian's 0.10.6-0+deb12u3 carries (among them
# CVE-2026-59847, AES-GCM tags that are never checked). Debian's version is asked of dpkg, because the library itself
# calls both of them 0.10.6. Where there is no dpkg only a later upstream release is taken.
set(MAYFLY_LIBSSH_DEBIAN 0.10.6-0+deb12u3)
set(MAYFLY_LIBSSH_UPSTREAM 0.11.4)

find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBSSH REQUIRED libssh)
find_program(MAYFLY_DPKG_QUERY dpkg-query)
find_program(MAYFLY_DPKG dpkg)

function(mayfly_judge_libssh)
  set(package_version "")
  if(MAYFLY_DPKG_QUERY AND MAYFLY_DPKG)
    # Both: headers of one version with a library of another would be the worst of the two.
    foreach(package libssh-4 libssh-dev)
      execute_process(COMMAND ${MAYFLY_DPKG_QUERY} -W -f "\${Version}" ${package}
        OUTPUT_VARIABLE package_version ERROR_QUIET RESULT_VARIABLE status)
      if(NOT status EQUAL 0)
        set(package_version "")
        break()
      endif()
      execute_process(COMMAND ${MAYFLY_DPKG} --compare-versions "${package_version}" ge ${MAYFLY_LIBSSH_DEBIAN}
        RESULT_VARIABLE too_old)
      if(too_old)
        message(FATAL_ERROR "${package} is ${package_version}: at least ${MAYFLY_LIBSSH_DEBIAN} is needed "
          "(apt-get install libssh-4 libssh-dev from bookworm-security)")
      endif()
    endforeach()
  endif()
  if(package_version STREQUAL "" AND LIBSSH_VERSION VERSION_LESS MAYFLY_LIBSSH_UPSTREAM)
    message(FATAL_ERROR "libssh ${LIBSSH_VERSION} is no Debian package here: at least Debian's ${MAYFLY_LIBSSH_DEBIAN} "
      "or upstream ${MAYFLY_LIBSSH_UPSTREAM} is needed")
  endif()
endfunction()
mayfly_judge_libssh()

add_library(mayfly_libssh INTERFACE)
target_include_directories(mayfly_libssh SYSTEM INTERFACE ${LIBSSH_INCLUDE_DIRS})
target_link_directories(mayfly_libssh INTERFACE ${LIBSSH_LIBRARY_DIRS})
target_link_libraries(mayfly_libssh INTERFACE ${LIBSSH_LIBRARIES})
