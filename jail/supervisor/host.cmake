# What the supervisor knows of and does to the host: control groups, measuring, the survey. No event loop, no policy.
mayfly_library(mayfly_supervisor_host
  SOURCES cgroup.cpp cgroup_ahead.cpp cgroup_files.cpp cgroup_kill.cpp cgroup_none.cpp cgroup_sight.cpp
          cgroup_v1.cpp cgroup_v1_group.cpp cgroup_v2.cpp cgroup_v2_group.cpp cgroup_v2_place.cpp measure.cpp measure_filesystem.cpp measure_mounts.cpp
          measure_proc.cpp measure_text.cpp host_survey.cpp
  LINK mayfly_spec mayfly_os mayfly_wire)
