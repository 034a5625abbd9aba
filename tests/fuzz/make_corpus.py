#!/usr/bin/env python3
"""Makes the seeds of the SSH fuzzer. Standard library only.

  make_corpus.py FOLDER            writes FOLDER/ssh/NAME and FOLDER/ssh.claims
  make_corpus.py --check FOLDER    fails when a file there is not what would be written

Beside a seed's bytes stands what it reaches ("logins=1 runs=1 output>=15"); fuzz_session_replay holds it to that.
Inputs that once broke something lie in the same folder, are not made here, and have no claim.
"""
import sys

from corpus_words import *  # noqa: F403

SEEDS = {}


def seed(name, claims, *records, setting=LOGGED_IN | OPEN, play=HELLO):
    SEEDS[name] = (bytes([setting, play]) + b"".join(records), claims)


def before_keys():
    seed("identification-only", "keys=0 logins=0", setting=IDENTIFIED)
    seed("nothing-at-all", "keys=0 logins=0", setting=NOTHING)
    seed("http-request", "keys=0", raw(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"), setting=NOTHING)
    seed("long-identification", "keys=0", raw(b"SSH-2.0-" + b"x" * 300 + b"\r\n"), setting=NOTHING)
    seed("old-identification", "keys=0", raw(b"SSH-1.5-old\r\n"), setting=NOTHING)
    seed("identification-in-pieces", "keys=1", raw(b"SSH-"), raw(b"2.0-x"), raw(b"\n"), kex_init(), KEX_ECDH_INIT,
         NEW_KEYS, setting=NOTHING)
    seed("key-exchange-of-its-own", "keys=1 logins=1", kex_init(), KEX_ECDH_INIT, NEW_KEYS, USERAUTH, auth("none"),
         setting=IDENTIFIED)
    seed("key-exchange-in-one-write", "keys=1 logins=1",
         together(kex_init(), KEX_ECDH_INIT, NEW_KEYS, USERAUTH, auth("none")), setting=IDENTIFIED)
    seed("key-exchange-wrong-guess", "keys=1 logins=0", kex_init(kex="ecdh-sha2-nistp256,curve25519-sha256", guess=True),
         KEX_ECDH_INIT, KEX_ECDH_INIT, NEW_KEYS, setting=IDENTIFIED)
    seed("key-exchange-nothing-in-common", "keys=0", kex_init(cipher="3des-cbc", mac="hmac-md5"), KEX_ECDH_INIT,
         setting=IDENTIFIED)
    seed("key-exchange-compression", "logins=0", kex_init(compression="zlib@openssh.com,zlib"), KEX_ECDH_INIT, NEW_KEYS,
         setting=IDENTIFIED)
    seed("key-exchange-other-cipher", "keys=1 logins=0", kex_init(cipher="chacha20-poly1305@openssh.com"), KEX_ECDH_INIT,
         NEW_KEYS, USERAUTH, setting=IDENTIFIED)
    seed("key-exchange-bad-points", "keys=0", kex_init(), packet(30, text(bytes(32))), packet(30, text(b"short")),
         packet(30, text(b"")), setting=IDENTIFIED)
    seed("ignore-within-strict-key-exchange", "logins=0", kex_init(), packet(2, text(b"terrapin")), KEX_ECDH_INIT,
         NEW_KEYS, USERAUTH, auth("none"), setting=IDENTIFIED)
    seed("success-said-by-the-client", "logins=0 channels=0 runs=0", packet(52), channel_open(), execute(), setting=KEYS)
    seed("channels-before-login", "logins=0 channels=0 runs=0", channel_open(), execute(), shell(), data("x"),
         global_request("tcpip-forward", text("") + word(22)), setting=KEYS)
    seed("channels-between-service-and-login", "logins=0 channels=0 runs=0", USERAUTH, channel_open(), execute(),
         adjust(1), eof(), close(), setting=KEYS)
    seed("grace-time", "logins=0 disconnects=1 seconds>=20 seconds<=25", USERAUTH, wait(30), setting=KEYS)
    seed("another-service", "logins=0", packet(5, text("ssh-connection")), setting=KEYS)


def lengths():
    for number in (0, 1, 5, 35001, 1 << 31, 0xffffffff):
        seed(f"length-{number}", "logins=1", raw(word(number) + b"\4" + b"x" * 60))
    seed("length-before-keys", "keys=0", raw(word(12) + b"\xff" + b"x" * 60), setting=IDENTIFIED)
    seed("padding-longer-than-the-packet", "logins=1", raw(word(16) + b"\x20" + b"x" * 47))
    seed("wrong-mac", "logins=1 runs=0", channel_open(), raw(word(16) + b"\x0e\x02" + b"x" * 14 + b"m" * 32))
    seed("strings-longer-than-the-packet", "logins=1 runs=0", channel_open(),
         packet(98, word(FIRST) + word(1 << 31) + b"exec"), packet(98, word(FIRST) + text("exec") + b"\1" + word(999) + b"x"),
         packet(94, word(FIRST) + word(0xffffffff) + b"x"), packet(90, text("session")), packet(93, word(FIRST)))
    seed("auth-strings-longer-than-the-packet", "logins=0", USERAUTH, packet(50, word(1 << 30) + b"run"),
         packet(50, text("run") + text("ssh-connection") + word(99)), packet(50, text("run")), packet(50), setting=KEYS)


def logins():
    ways = {"setting": KEYS | KEYS_AND_INVITES}
    seed("login-password", "logins=1 asked=1", USERAUTH, password("code"), **ways)
    seed("login-password-wrong", "logins=0 refusals>=5 disconnects=1", USERAUTH, *[password("wrong")] * 8, **ways)
    seed("login-password-change", "logins=1", USERAUTH, auth("password", b"\1" + text("code") + text("new")), **ways)
    seed("login-password-long", "logins=0", USERAUTH, password("x" * 9000), password("x" * 257, "u" * 300), **ways)
    seed("login-interactive", "logins=1 asked=1", USERAUTH, interactive(), answer("code"), **ways)
    seed("login-interactive-answers", "logins=0", USERAUTH, interactive(), answer(), interactive(), answer("a", "b"),
         answer("code"), interactive(""), answer("code"), packet(61, word(0xffffffff)), **ways)
    seed("login-none-refused", "logins=0 refusals=2", USERAUTH, auth("none"), auth("none"), **ways)
    seed("login-key", "logins=1", USERAUTH, key_offer(), key_login(), **ways)
    seed("login-key-kinds", "logins=1", USERAUTH, key_offer("rsa-sha2-512"), key_offer("sk-ssh-ed25519@openssh.com"),
         key_offer("ecdsa-sha2-nistp256"), key_login("ecdsa-sha2-nistp256"), **ways)
    seed("login-key-rsa", "logins=1", USERAUTH, key_login("rsa-sha2-512"), **ways)
    seed("login-key-of-a-token", "logins=1", USERAUTH, key_login("sk-ssh-ed25519@openssh.com"), **ways)
    seed("login-key-bad-signature", "logins=0", USERAUTH, *[key_login(last=BAD)] * 3, **ways)
    seed("login-key-offered-never-signed", "logins=0 disconnects=1", USERAUTH, *[key_offer()] * 7, **ways)
    seed("login-key-nobody-takes", "logins=0", USERAUTH, key_offer("ssh-dss"),
         auth("publickey", b"\0" + text("ssh-ed25519") + text(b"not a key")),
         auth("publickey", b"\0" + text("no-such-kind") + text(key_blob("ssh-ed25519"))),
         auth("publickey", b"\1" + text("ssh-ed25519") + text(key_blob("ssh-ed25519")) + text(b"")), **ways)
    seed("login-key-other-user-signs", "logins=0", USERAUTH, key_offer(), key_login(user="nobody"), **ways)
    seed("login-unknown-user", "logins=0 refusals>=1", USERAUTH, auth("none", user="../../etc\x1b[31m\n%s"), password(
        "code", "root"), auth("none", user=""), auth("none", user="r\0un"), setting=KEYS)
    seed("login-odd-methods", "logins=0", USERAUTH, auth("hostbased", text("x") * 5), auth(""), auth("none", service="x"),
         auth("gssapi-keyex"), auth("publickey"), packet(50, text(b"\xff\xfe") + text("ssh-connection") + text("none")), **ways)
    seed("login-twice", "logins=1 asked=1", auth("none"), password("code"), key_login(), USERAUTH, interactive())
    seed("gssapi", "logins=0", USERAUTH, auth("gssapi-with-mic", word(1) + text(b"\x06\x09*\x86H\x86\xf7\x12\x01\x02\x02")),
         packet(60, text("x")), packet(61, text("token")), packet(63), packet(64, text("x")), packet(65, text("x")),
         packet(66, text("mic")), **ways)
    seed("forced-command", "logins=1 runs=1 statuses=1", channel_open(), execute("something else"),
         setting=LOGGED_IN | KEYS_ONLY | FORCED_COMMAND)
    seed("forced-command-for-a-shell", "runs=1", channel_open(), terminal(), shell(), setting=LOGGED_IN | FORCED_COMMAND)


def one_channel():
    seed("exec", "runs=1 output=15 statuses=1 closes=1", channel_open(), execute("echo hello"), close())
    seed("exec-in-one-write", "runs=1 output=15 statuses=1", together(channel_open(), execute("echo hello")))
    seed("exec-with-nul", "runs=0 no_requests>=1", channel_open(), execute("true\0 && false"))
    seed("exec-empty", "runs=1", channel_open(), execute(""))
    seed("exec-long", "runs=1", channel_open(), execute("x" * 20000))
    seed("exec-twice", "runs=1 no_requests=2", channel_open(), execute(), execute(), shell(), play=INTERACTIVE)
    seed("exec-late-bytes", "runs=1 output=5 statuses=1", channel_open(), execute(), play=LATE)
    seed("exec-refused", "runs=1 output>=20 statuses=1", channel_open(), execute(), play=REFUSE)
    seed("exec-not-built", "runs=1 output>=20 statuses=1", channel_open(), execute(), play=FAIL)
    seed("exec-never-answered", "runs=1 cancels=1", channel_open(), execute(), close(), play=SILENT)
    seed("exec-echo", "runs=1 input=11 output=11 statuses=1", channel_open(), execute("cat"), data("hello\n"),
         extended("not for you"), data(b"\0\xff\r\n\x1b"), eof(), play=ECHO)
    seed("data-before-exec", "runs=1 input=6 output=6", channel_open(), data("early\n"), execute("cat"), eof(), play=ECHO)
    seed("input-that-nobody-reads", "runs=1 statuses=1", channel_open(), execute(), *[data(b"i" * 3000)] * 3, eof(),
         jail_ends(1, EXIT, 4), play=INTERACTIVE)
    seed("much-output", "runs=1 output=300000 statuses=1", channel_open(window=1 << 21), execute(), play=MUCH)
    seed("much-output-small-window", "runs=1 output>=1100 statuses=0", channel_open(window=100), execute(), adjust(1000),
         adjust(7), play=MUCH)
    seed("much-output-nobody-reads", "runs=1", channel_open(window=1 << 24), execute(), record(PEER_HALTS), wait(10),
         record(PEER_READS), wait(5), play=MUCH)
    seed("window-zero", "runs=1 output=0", channel_open(window=0), execute(), wait(5))
    seed("window-overflow", "logins=1", channel_open(window=0xffffffff), execute(), adjust(1), adjust(0xffffffff),
         play=INTERACTIVE)
    seed("packets-of-one-byte", "runs=1", channel_open(most=1), execute())
    seed("packets-of-ten-bytes", "runs=1", channel_open(most=10), execute())
    seed("packets-of-nine-bytes", "runs=1", channel_open(most=9), execute())
    seed("signals", "signals=2 statuses=1", channel_open(), execute(), signal("INT"), signal("NOSUCH"), signal("../KILL"),
         signal("TERM"), play=INTERACTIVE)
    seed("endings", "runs=5 statuses=5", *[
        channel_open(n) + execute(channel=FIRST + n) + jail_writes(n + 1, 64) + jail_ends(n + 1, n, 9) + close(FIRST + n)
        for n in range(5)], play=INTERACTIVE)
    seed("odd-requests", "no_requests>=8 runs=1", channel_open(), environment("LD_PRELOAD", "/x"), request("x11-req", b"\0" * 20),
         request("auth-agent-req@openssh.com"), request("subsystem", text("sftp")), request("break", word(500)),
         request("exit-status", word(1)), request("xon-xoff", b"\1"), request(""), request("eow@openssh.com"), execute())
    seed("exec-closed-by-the-peer", "runs=1 cancels=1 closes=1", channel_open(), execute(), data("x"), close(), data("y"),
         eof(), close(), play=INTERACTIVE)


def terminals():
    seed("shell-on-a-terminal", "runs=1 output>=100 resizes=2 statuses=1", channel_open(), terminal(), shell(),
         resize(100, 50), data("exit\r"), resize(0, 0xffffffff), jail_writes(1, 320), jail_ends(1, EXIT), play=INTERACTIVE)
    seed("terminal-odd", "runs=1", channel_open(), terminal("../\x1b[x", 0, 0), terminal("xterm", 0xffffffff, 1),
         resize(0, 0), shell(), terminal("late"))
    seed("terminal-modes", "runs=1", channel_open(), terminal(modes=b"\x01" * 500), shell())
    seed("shell-without-terminal", "runs=1 output=15", channel_open(), shell())
    seed("shell-queued", "runs=1 output>=40", channel_open(), terminal(), shell(), play=ECHO)
    seed("shell-warned-of-its-end", "runs=1 keepalives>=3 output>=200", channel_open(), terminal(), shell(),
         *[wait(16), packet(82)] * 8, jail_ends(1, TIME_LIMIT), play=INTERACTIVE)
    seed("silent-peer", "logins=1 keepalives=1 seconds>=45 seconds<=50", channel_open(), execute(), wait(60), play=INTERACTIVE)


def many():
    seed("eleven-channels", "channels=10 no_channels=1 runs=0", *[channel_open(n) for n in range(11)])
    seed("ten-jails", "channels=10 runs=10 output>=300000", *[
        channel_open(n, 1 << 20) + execute(channel=FIRST + n) for n in range(10)], play=NEXT)
    seed("channels-opened-and-closed", "channels=20 runs=0 closes=20", *[
        channel_open(n) + close(FIRST + n) for n in range(20)])
    seed("one-number-for-two-channels", "channels=2 runs=2", channel_open(), channel_open(), execute(),
         execute(channel=FIRST + 1))
    seed("channels-of-other-kinds", "no_channels=2 channels=0", *[
        channel_open(kind=kind) for kind in ("direct-tcpip", "x11", "tun@openssh.com", "")])
    seed("unknown-channel", "runs=0", execute(channel=0), data("x", 7), eof(0xffffffff), close(1), adjust(1, 2))
    seed("confirmations-nobody-asked-for", "runs=0", channel_open(), packet(91, word(FIRST) + word(0) * 3),
         packet(92, word(FIRST) + word(1) + text("no") + text("")), packet(99, word(FIRST)), packet(100, word(FIRST)))
    seed("global-requests", "no_requests>=4", global_request("keepalive@openssh.com"),
         global_request("tcpip-forward", text("0.0.0.0") + word(22)), global_request("cancel-tcpip-forward", text("") + word(1)),
         global_request("hostkeys-prove-00@openssh.com", text("x")), global_request("no-such"), packet(80), packet(81), packet(82))
    seed("rekey", "keys=2 runs=1 output=15", channel_open(), REKEY, execute())
    seed("rekey-while-output-runs", "keys=2 runs=1", channel_open(), execute(), kex_init(), jail_writes(1, 4080),
         KEX_ECDH_INIT, NEW_KEYS, jail_ends(1, EXIT), play=INTERACTIVE)
    seed("rekey-begun-and-left", "keys=1", channel_open(), kex_init(), execute(), channel_open(1), wait(3))
    seed("rekey-thrice", "keys>=3", REKEY, REKEY, REKEY, channel_open())
    seed("tiny-messages", "logins=1 runs=1", together(*[packet(2, text("")), packet(4, b"\0" + text("") + text("")),
         packet(3, word(1))] * 100), channel_open(), execute())
    seed("disconnect", "logins=1", channel_open(), execute(), packet(1, word(11) + text("bye") + text("")), play=INTERACTIVE)
    unknown = [n for n in range(7, 256) if not (20 <= n <= 31 or 50 <= n <= 66 or 80 <= n <= 100)]
    seed("unknown-messages", "logins=1 unimplemented>=100", *[packet(n, b"x" * 8) for n in unknown])


def ends():
    seed("engine-stops", "runs=1 disconnects=1", channel_open(), execute(), record(ENGINE_STOPS), close(), play=INTERACTIVE)
    seed("engine-stops-before-a-jail", "disconnects=1", channel_open(), record(ENGINE_STOPS), execute(), close())
    seed("engine-stops-before-login", "logins=0", USERAUTH, record(ENGINE_STOPS), auth("none"), setting=KEYS)
    seed("service-stops", "runs=1 disconnects=1", channel_open(), execute(), record(SERVICE_STOPS), play=INTERACTIVE)
    seed("peer-vanishes", "runs=1 disconnects=0", channel_open(), execute(), record(PEER_VANISHES), play=INTERACTIVE)
    # B35: ten minutes without a channel end it, a quarter of an hour with one do not.
    here = [wait(14), packet(2, text("here"))]
    seed("unused-connection", "logins=1 disconnects=1 seconds>=600 seconds<=615", *here * 64)
    seed("used-connection", "logins=1 channels=1 disconnects=0 seconds>=896", channel_open(), *here * 64)


def main():
    for part in (before_keys, lengths, logins, one_channel, terminals, many, ends):
        part()
    files = {f"ssh/{name}": content for name, (content, _) in SEEDS.items()}
    claims = [f"{name} {claim}\n" for name, (_, claim) in sorted(SEEDS.items())]
    files["ssh.claims"] = ("# what each seed reaches; made by make_corpus.py\n" + "".join(claims)).encode()
    other = keep(files)  # noqa: F405
    print(f"{len(SEEDS)} seeds, {sum(map(len, files.values()))} bytes", *(["not as made:"] + other if other else []))
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
