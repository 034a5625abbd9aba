// Public keys as ssh-keygen (OpenSSH 9.2) wrote them, for this test alone: their private halves are gone. The two sk-
// keys were put together from the numbers of the others, since no token was at hand; ssh-keygen -l reads them all.
#pragma once

#include <string_view>

namespace mayfly::samples {

// clang-format off
inline constexpr std::string_view kEd25519 =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKNxYlpZ9RKPsNp7xdMtIZZP2qaA+BIjCaJ/CZotGedx ed25519@test";
inline constexpr std::string_view kEcdsa256 =
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBLsIEAP7+u530OIt5h9esQBuv+OXOhB3ZMRP8O"
    "irSy9SgdYkC6rMbbKTMrbtfO5PDMoUmjidEUoCBYSQoCXYD/E= ecdsab256@test";
inline constexpr std::string_view kEcdsa384 =
    "ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBFSLgRHOwQ/4sUQwAEfC4INHRrguexvsvww9hY"
    "xQ+bl8ttn661F4euYkE08fAX9i+PVHG1LMwRHbmd2eJ/v9xN4fgqN1lvqf7/yRh0RYE7W/xAeCysCRYDbx+4ibyt3YRQ== ecdsab384@test";
inline constexpr std::string_view kEcdsa521 =
    "ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAHFkR8AtrrIElog7EUNZdwRVEgIMdWOL8ediR"
    "R1E8RVYqqV5IN8piPkIgTD6d0k5UWwAGQ8jpchc1UaFEi+CJW3tQFDVpm9z4U4XjjdRyRqBXs5frLk4Cjyi8m/rHjvBjCPF7alanoRoc22hvWn"
    "xkPbFUoaFfCZ8OCLuPHU66SPDV7mJQ== ecdsab521@test";
inline constexpr std::string_view kRsa3072 =
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQCqo2DnB5YPQ6dzuYFH7VAv9LQuE0TBu9CeoeZwDtL/o2pAenwSyuOQlgHR+NCY3kSj6Z16kD"
    "njeaEe3ZY8bT+YVcVGyK2HoM8EltiyAHlJbBLLc3TtjK2W4K4OcJ9wkeHqpl2hJxX5IjUGzeLWsCj3o/XFixLjxzWfU1O2vjA7QuCDVDROW9uC"
    "ybpJY6432MD8b00vBBmRZ8MD+ELTZOFG2ucT0roLUSqCUNpvEa9ra4a+Z9yldgeyiqZI0/OwT47TnXb6Kw10N6Zuk2+JsFg2l9qhNXAAdT6lXC"
    "ksw6/AhxLnjo7ZaM4kksqFJC7HnyjGHrtK1sUMCcocidSWQzanwDz287g7wL5G33xIjeU1nShPafkYXUIhfOvyP2j8YVGmdoxhbQCyCAv7G7bf"
    "OrYxjmaIjHu4q0iu1NO+DJvP1fy2zvuMgli7oHv3PEYozoidrPpriAJ3VQCvcUWewNU7Dtg7jQC6Rxs2DT1EbAh8G/Si6ymBcux/jxbofg0DGs"
    "U= rsab3072@test";
inline constexpr std::string_view kSkEd25519 =
    "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIKNxYlpZ9RKPsNp7xdMtIZZP2qaA+BIjCaJ/CZo"
    "tGedxAAAABHNzaDo= sked@test";
inline constexpr std::string_view kSkEcdsa =
    "sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyNTYAAABBBLs"
    "IEAP7+u530OIt5h9esQBuv+OXOhB3ZMRP8OirSy9SgdYkC6rMbbKTMrbtfO5PDMoUmjidEUoCBYSQoCXYD/EAAAAEc3NoOg== skec@test";
inline constexpr std::string_view kRsa2048 =
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDopN5xCsqBSvMXwEq8zj76wCitgWI6k3QxifHPbehsx09JQAIk2JNIkRJ5VayG1OczmEeTop"
    "9DQujZ6H6cNmSTQDX4thMGC8bjOPj2M+3iDdS5Ab/JCMY83WWikFMmTlPb+ColniJwidMrHSEX8BJJOMrLztW2BggnnScJWYf90ZLzc/cwCUmk"
    "Q8UMI+VsU5fRsmvkMJVvdcrPhpN8mKCmYfFwTIBj9kZXJWomfU+Zdx/0syGKyjyzAsyZHgsil3z7Uxw/c3oh6H18/AsLrhXe/X2ix0kMbNUfWO"
    "g30hwmMWR8ph6dmEzZB/zsT0nIud+RaR+Sw1YaZAkzX9g2q+WX rsab2048@test";
inline constexpr std::string_view kDsa =
    "ssh-dss AAAAB3NzaC1kc3MAAACBAM7ArkDOUaz+Sb2+OqHeVVKcGJkzUXAM8p94RFUoJLEnBRuwnQvz1gd+hLN7Uonnnti3jVR7fa7SIGJRtY"
    "ogtdCsmeZ1VrZwJY25qW/zwJjl3JKJuqbBWvPSJzAtXpZy+oHfanShe6gwMS2jzEQdMYfxG7mu6GiRCfA07TkXbCf3AAAAFQCuAMlfnpF2T0Aj"
    "z3QNq0oAcV5nqwAAAIA2skkwQT/1h33MwL9s/0YLAMHwxskrlelbEf4LRww5S6jvmBpAglq6YYWVRra/bY9fm0FR1lmmW/3bcB7+aMNuqlyc3L"
    "gnnWt8g1SA/0kUg4ikmz8t2OE+J54VB//z9/QFMrqH15BcfpD6HzxN9aPDiaavCiL+bsVTAZ72Au8JWAAAAIAmjR9LEtYZMeiiVEwBtru28PZ5"
    "yFQ+ItfvpTymmuaRv+sxYTRLpYyc9ANEB9MP9vFmOnWiCTnQErltjuekpFKULbtyTQtxVCnGlQ9/6jE6pz2D0mrkX4XLvF2Ezkk2uyTt0DaeDK"
    "3YbNP69hDrFkrchYFwWwH4w+QaAhIpW/8XMg== dsa@test";
inline constexpr std::string_view kCertificate =
    "ecdsa-sha2-nistp256-cert-v01@openssh.com AAAAKGVjZHNhLXNoYTItbmlzdHAyNTYtY2VydC12MDFAb3BlbnNzaC5jb20AAAAgInh0o"
    "a2TA3soB8CrLEq/iMm4vK0bC683xITdL9OQS/sAAAAIbmlzdHAyNTYAAABBBLsIEAP7+u530OIt5h9esQBuv+OXOhB3ZMRP8OirSy9SgdYkC6r"
    "MbbKTMrbtfO5PDMoUmjidEUoCBYSQoCXYD/EAAAAAAAAAAAAAAAEAAAACbWUAAAAHAAAAA2FuYQAAAAAAAAAA//////////8AAAAAAAAAggAAA"
    "BVwZXJtaXQtWDExLWZvcndhcmRpbmcAAAAAAAAAF3Blcm1pdC1hZ2VudC1mb3J3YXJkaW5nAAAAAAAAABZwZXJtaXQtcG9ydC1mb3J3YXJkaW5"
    "nAAAAAAAAAApwZXJtaXQtcHR5AAAAAAAAAA5wZXJtaXQtdXNlci1yYwAAAAAAAAAAAAAAMwAAAAtzc2gtZWQyNTUxOQAAACCjcWJaWfUSj7Dae"
    "8XTLSGWT9qmgPgSIwmifwmaLRnncQAAAFMAAAALc3NoLWVkMjU1MTkAAABA24oNeSqx1Orhq4X78Jh6LIJVf8lvUB2UeO4bo9ecLOmGLVOg8jO"
    "l1fcerI3g9sQv3q0Ik/Yv8FXcr6CLJBO+Dg== ecdsab256@test";
// clang-format on

struct Sample {
  std::string_view line;
  std::string_view fingerprint;  // as ssh-keygen -l printed it
};

inline constexpr Sample kAccepted[] = {
    {kEd25519, "SHA256:0FJzhF7f/ZOC4+GzidplBedDG2RLxWRN1chPERMZBaI"},
    {kEcdsa256, "SHA256:nG8FK15owakJ8yW/3JOyRvff43dP61FT0BFRnWZ16zI"},
    {kEcdsa384, "SHA256:9f7zJBPIGeUm4tm9RuwhRMMZ9GbRCWcZKYyxuTH9rGs"},
    {kEcdsa521, "SHA256:6vhRuA498QbqaznsHUCCvrYAeNxSKRS7Dl/em8dUGUM"},
    {kRsa3072, "SHA256:/D0fZ1LnIIeCjUWbswNeuYjE0D48UJzucLmui2IfXNw"},
    {kSkEd25519, "SHA256:xU7hkMQ9J1/HClTnGhhioCzwbOzuDV+4pZPz7CuVGVM"},
    {kSkEcdsa, "SHA256:KmwHxwfuUCrwUjKpVQoZLGA3+YfrttH1FCq7o7AnpPk"},
};

}  // namespace mayfly::samples
