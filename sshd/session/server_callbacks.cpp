#include "sshd/session/server_callbacks.h"

#include <utility>

namespace mayfly {

namespace {

ServerEvents& events_of(void* userdata) { return *static_cast<ServerEvents*>(userdata); }

int answer(LoginVerdict verdict) { return verdict == LoginVerdict::Refuse ? SSH_AUTH_DENIED : SSH_AUTH_SUCCESS; }

int on_none(ssh_session, const char* user, void* userdata) {
  return answer(events_of(userdata).on_login(user, Proof::None, {}));
}

int on_password(ssh_session, const char* user, const char* password, void* userdata) {
  return answer(events_of(userdata).on_login(user, Proof::Code, password));
}

// Also called for the question whether a key would do (state NONE): success then only means "sign with it".
int on_key(ssh_session, const char* user, ssh_key key, char signature_state, void* userdata) {
  const auto proof = signature_state == SSH_PUBLICKEY_STATE_VALID  ? Proof::KeySignature
                     : signature_state == SSH_PUBLICKEY_STATE_NONE ? Proof::KeyOffer
                                                                   : Proof::KeyBadSignature;
  char* text = nullptr;
  if (ssh_pki_export_pubkey_base64(key, &text) != SSH_OK) return SSH_AUTH_DENIED;
  const int verdict = answer(events_of(userdata).on_login(user, proof, text));
  ssh_string_free_char(text);
  return verdict;
}

// Its only use is to be there: without it libssh answers a gssapi-with-mic request by asking the Kerberos library.
ssh_string on_gssapi(ssh_session, const char* user, int, ssh_string*, void* userdata) {
  (void)events_of(userdata).on_login(user, Proof::KeyBadSignature, {});
  return nullptr;
}

ssh_channel on_channel_open(ssh_session, void* userdata) { return events_of(userdata).on_channel_open(); }

// Returning an error would make libssh disconnect in the middle of the packet.
int on_service(ssh_session, const char* service, void* userdata) {
  events_of(userdata).on_service(service);
  return 0;
}

}  // namespace

int Interactive::take(ssh_session session, ssh_message message) {
  if (ssh_message_type(message) != SSH_REQUEST_AUTH || ssh_message_subtype(message) != SSH_AUTH_METHOD_INTERACTIVE)
    return 1;
  if (ssh_message_auth_kbdint_is_response(message) == 0) {
    const char* const user = ssh_message_auth_user(message);
    if (user == nullptr || *user == '\0') return 1;
    user_ = user;
    const char* questions[] = {"Invite code: "};
    char shown[] = {0};
    return ssh_message_auth_interactive_request(message, "", "", 1, questions, shown) == SSH_OK ? 0 : 1;
  }
  const std::string user = std::exchange(user_, std::string());  // an answer belongs to one question
  const char* const code =
      ssh_userauth_kbdint_getnanswers(session) == 1 ? ssh_userauth_kbdint_getanswer(session, 0) : nullptr;
  const auto verdict = events_.on_login(user, Proof::Code, code == nullptr ? "" : code);
  if (verdict != LoginVerdict::Admit) return 1;
  ssh_message_auth_reply_success(message, 0);
  return 0;
}

ssh_server_callbacks_struct server_callbacks(ServerEvents& events) {
  ssh_server_callbacks_struct callbacks{};
  callbacks.userdata = &events;
  callbacks.auth_none_function = on_none;
  callbacks.auth_password_function = on_password;
  callbacks.auth_pubkey_function = on_key;
  callbacks.gssapi_select_oid_function = on_gssapi;
  callbacks.channel_open_request_session_function = on_channel_open;
  callbacks.service_request_function = on_service;
  ssh_callbacks_init(&callbacks);
  return callbacks;
}

}  // namespace mayfly
