"""The messages of SSH as bytes: the types of RFC 4251, 5, the numbers of RFC 4250, 4.1 and what tests send most."""
import struct

DISCONNECT, IGNORE, UNIMPLEMENTED, DEBUG, SERVICE_REQUEST, SERVICE_ACCEPT = range(1, 7)
KEXINIT, NEWKEYS, KEX_INIT, KEX_REPLY = 20, 21, 30, 31
AUTH_REQUEST, AUTH_FAILURE, AUTH_SUCCESS = 50, 51, 52
AUTH_KEY_OK = 60
GLOBAL_REQUEST, GLOBAL_SUCCESS, GLOBAL_FAILURE = 80, 81, 82
OPEN, OPENED, OPEN_FAILURE, ADJUST, DATA, EXTENDED_DATA, EOF, CLOSE, REQUEST, SUCCESS, FAILURE = range(90, 101)



def number(value):
    return struct.pack(">I", value)


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return number(len(value)) + value


def names(values):
    return text(",".join(values))


def big(value):
    """mpint."""
    return text(value.to_bytes(value.bit_length() // 8 + 1, "big")) if value else text(b"")


class Reader:
    """Takes the parts of a payload off its front."""

    def __init__(self, payload):
        self.rest = payload

    def bytes(self, count):
        part, self.rest = self.rest[:count], self.rest[count:]
        return part

    def byte(self):
        return self.bytes(1)[0]

    def number(self):
        return struct.unpack(">I", self.bytes(4))[0]

    def text(self):
        return self.bytes(self.number())


def login_request(user, method="none", rest=b"", service="ssh-connection"):
    return bytes([AUTH_REQUEST]) + text(user) + text(service) + text(method) + rest


def open_request(own, window=1 << 21, most=32768, kind="session"):
    return bytes([OPEN]) + text(kind) + number(own) + number(window) + number(most)
