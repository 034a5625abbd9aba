#!/usr/bin/env python3
"""Makes the seeds of the fuzzer of foreign text (text_target.h). Standard library only.

  make_text_corpus.py FOLDER            writes FOLDER/text/NAME
  make_text_corpus.py --check FOLDER    fails when a file there is not what would be written

A name says how the parser must judge it: taken- or refused-.
"""
import base64
import sys

from corpus_words import keep, key_blob, mpint, text

KEYS, INVITES, FROM_FRONT_END, FROM_SUPERVISOR, SOURCES = range(5)
SEEDS = {}


def seed(name, kind, content):
    SEEDS[name] = bytes([kind]) + (content.encode() if isinstance(content, str) else content)


def key_line(kind="ssh-ed25519", options="", comment="somebody", blob=None):
    encoded = base64.b64encode(blob or key_blob(kind)).decode()
    return f"{options}{' ' if options else ''}{kind} {encoded} {comment}\n"


RSA = text("ssh-rsa") + mpint(b"\x01\x00\x01") + mpint(b"\xc1" + b"n" * 382 + b"\x01")
SHORT_RSA = text("ssh-rsa") + mpint(b"\x01\x00\x01") + mpint(b"\xc1" + b"n" * 126 + b"\x01")


def keys():
    seed("taken-key", KEYS, key_line())
    seed("taken-keys", KEYS, "# who may come in\n\n" + key_line() + key_line("ssh-rsa", blob=RSA)
         + key_line("ecdsa-sha2-nistp256") + key_line("sk-ssh-ed25519@openssh.com"))
    seed("taken-key-options", KEYS, key_line(
        options='restrict,command="echo \\"a b\\", c",from="192.0.2.0/24,!192.0.2.7,2001:db8::/32,198.51.100.*"'
                ',expiry-time="20991231235959Z"'))
    seed("taken-key-expired", KEYS, key_line(options='expiry-time="20200101"'))
    seed("refused-key-unknown-option", KEYS, key_line(options="permitopen=\"a:1\""))
    seed("refused-key-open-quote", KEYS, key_line(options='command="echo'))
    seed("refused-key-from-a-name", KEYS, key_line(options='from="*.example.org"'))
    seed("refused-key-short-rsa", KEYS, key_line("ssh-rsa", blob=SHORT_RSA))
    seed("refused-key-dss", KEYS, key_line("ssh-dss"))
    seed("refused-key-other-kind-inside", KEYS, key_line("ssh-rsa", blob=key_blob("ssh-ed25519")))
    seed("refused-key-cut", KEYS, key_line(blob=key_blob("ssh-ed25519")[:-3]))
    seed("refused-key-and-more", KEYS, key_line(blob=key_blob("ssh-ed25519") + b"x"))
    seed("refused-key-nul", KEYS, key_line(comment="a\0b", options='command="a\0b"'))
    seed("keys-crlf-and-tabs", KEYS, key_line().replace(" ", "\t").replace("\n", "\r\n") * 2)


def invite(name="ana", more=""):
    return (f'{{"name":"{name}","profile":"python","sha256":"{"a1" * 32}","createdUnixMs":1700000000000,'
            f'"expiresUnixMs":1800000000000{more}}}')


def book(*rows):
    return '{"version":1,"invites":[' + ",".join(rows) + "]}"


def invites():
    seed("taken-invites", INVITES, book(invite(), invite("ben", ',"usesLeft":3')))
    seed("taken-no-invites", INVITES, '{"version":1,"invites":[]}')
    seed("refused-invites-version", INVITES, '{"version":2,"invites":[]}')
    seed("refused-invites-twice", INVITES, '{"version":1,"version":1,"invites":[]}')
    seed("refused-invites-digest", INVITES, book(invite().replace("a1", "A1", 1)))
    seed("refused-invites-member", INVITES, book(invite(more=',"x":1')))
    seed("refused-invites-deep", INVITES, "[" * 100 + "]" * 100)
    seed("refused-invites-cut", INVITES, book(invite())[:-2])


OPEN = ('{"say":"open","run":1,"stdin":true,"request":{"origin":"ssh","peer":"192.0.2.1:50422",'
        '"principal":"anonymous@192.0.2.1","profile":"run","payload":[{"kind":"command","offset":0,"length":4},'
        '{"kind":"file","offset":4,"length":5,"name":"a/b","executable":true}],"payloadBytes":9,'
        '"terminal":{"columns":80,"rows":24,"term":"xterm"},"limits":{"wallMs":1000,"cpus":0.5},"require":["network"],'
        '"label":"lab","queueMs":30000}}')
CONTROLS = " ".join(["seccomp"] * 13)
LIMITS = "60000 60000 0 268435456 64 1000 67108864 8192 256 0 4294967296"
TOTALS = "0 0 " + "0" * 64
RESULT = (f'{{"facts":"j_{"f" * 22} exited 3 - 0 0 memory 0 run -","text":"t","out":"{TOTALS} tdGFpbA==","err":"{TOTALS}",'
          f'%s"metrics":"0 0 0 0 - - - root,relay{" 0" * 27}","environment":["HOME=/"],'
          '"why":{"cpu":"no","memoryPeak":"","processesPeak":""}}')
WHOLE = f'"controls":"{CONTROLS}","limits":"{LIMITS}",'


def messages():
    seed("taken-open", FROM_FRONT_END, OPEN)
    seed("taken-log-in", FROM_FRONT_END, '{"say":"log-in","way":"code","user":"run","credential":"\\u00e9 \\\\",'
         '"source":"2001:db8::/64","host":"2001:db8::1"}')
    seed("taken-cancel", FROM_FRONT_END, '{"say":"cancel","run":4294967295,"why":"disconnected"}')
    seed("taken-signal", FROM_FRONT_END, '{"say":"signal","run":1,"signal":64}')
    seed("taken-resize", FROM_FRONT_END, '{"say":"resize","run":1,"columns":1000,"rows":1}')
    seed("taken-ask-host", FROM_FRONT_END, '{"say":"ask-host"}')
    seed("refused-resize", FROM_FRONT_END, '{"say":"resize","run":1,"columns":1001,"rows":1}')
    seed("refused-open-run-0", FROM_FRONT_END, OPEN.replace('"run":1', '"run":0'))
    seed("refused-open-negative", FROM_FRONT_END, OPEN.replace('"offset":4', '"offset":-4'))
    seed("refused-message-unknown", FROM_FRONT_END, '{"say":"\\u0000"}')
    seed("refused-message-not-utf-8", FROM_FRONT_END, b'{"say":"\xff\xfe"}')
    seed("taken-running", FROM_SUPERVISOR,
         f'{{"say":"running","run":1,"id":"j_{"f" * 22}","controls":"{CONTROLS}","limits":"{LIMITS}"}}')
    seed("taken-refused", FROM_SUPERVISOR, '{"say":"refused","run":1,"id":"","kind":"queue-full","field":"","text":"full",'
         '"retryAfterMs":1000}')
    seed("taken-ended", FROM_SUPERVISOR, f'{{"say":"ended","run":1,"afterRunning":false,"result":{RESULT % WHOLE}}}')
    seed("taken-ended-after-running", FROM_SUPERVISOR, f'{{"say":"ended","run":1,"afterRunning":true,"result":{RESULT % ""}}}')
    seed("taken-queued", FROM_SUPERVISOR, f'{{"say":"queued","run":1,"id":"j_{"f" * 22}","position":3}}')
    seed("taken-fault", FROM_SUPERVISOR, '{"say":"fault","text":"no"}')
    seed("taken-login", FROM_SUPERVISOR, '{"say":"login","good":true,"principal":"invite:ana","command":"cmd"}')
    seed("taken-host", FROM_SUPERVISOR, '{"say":"host","kernel":"6.1","root":false,"cgroups":"v2","controls":[{"control":'
         '"network","expected":"none","cause":"c","fix":"f"}],"required":["network"]}')


def sources():
    seed("taken-sources", SOURCES, "192.0.2.0/24,!192.0.2.7,2001:db8::/32,::ffff:192.0.2.1,10.?.*,*\n192.0.2.7")
    seed("taken-source-zone", SOURCES, "fe80::/10\nfe80::1%eth0")
    seed("refused-source-bits", SOURCES, "192.0.2.1/24\n192.0.2.1")
    seed("refused-source-name", SOURCES, "host.example.org\n192.0.2.1")
    seed("refused-source-prefix", SOURCES, "192.0.2.0/33\n192.0.2.1")


def main():
    for part in (keys, invites, messages, sources):
        part()
    other = keep({f"text/{name}": content for name, content in SEEDS.items()})
    print(f"{len(SEEDS)} seeds", *(["not as made:"] + other if other else []))
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
