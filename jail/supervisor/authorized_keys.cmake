# Who may come in by key: text in, keys out. A library of its own, so that its test needs nothing of the supervisor.
# Of libcrypto only SHA256_Init, _Update and _Final are used, from the static archive (jail/witness says why).
find_library(MAYFLY_CRYPTO_ARCHIVE NAMES libcrypto.a REQUIRED)
mayfly_library(mayfly_authorized_keys SOURCES authorized_keys.cpp key_blob.cpp key_options.cpp source_pattern.cpp
  LINK mayfly_wire mayfly_spec ${MAYFLY_CRYPTO_ARCHIVE})
