#!/usr/bin/env python3
"""P03: the only interface is lo, and it leads nowhere but to the jail itself."""
import errno
import socket

from mayfly import Promise, main

INTERFACES = "print([line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line])"
# Prints the errno of connecting, 0 when it worked.
CONNECT = "import socket,sys; s = socket.socket({family}); s.settimeout(5); print(s.connect_ex(({address!r}, {port})))"


class NoNetwork(Promise):
    def connect(self, who, address, port, family="socket.AF_INET"):
        return int(who.python(CONNECT.format(family=family, address=address, port=port)).stdout)

    def test_lo_is_the_only_interface(self):
        names = self.root.python(INTERFACES).stdout.decode().strip()
        self.assertEqual(names, "['lo']")

    def test_a_listener_of_the_host_cannot_be_reached(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port)):
                pass  # control run: from outside it can
            for who in self.everybody():
                self.assertEqual(self.connect(who, "127.0.0.1", port), errno.ECONNREFUSED)

    def test_no_route_leads_out(self):
        for who in self.everybody():
            self.assertEqual(self.connect(who, "192.0.2.1", 80), errno.ENETUNREACH)
            self.assertIn(self.connect(who, "2001:db8::1", 80, "socket.AF_INET6"),
                          (errno.ENETUNREACH, errno.EADDRNOTAVAIL))

    def test_a_program_can_talk_to_itself(self):
        code = ("import socket\nl = socket.create_server(('127.0.0.1', 0))\n"
                "c = socket.create_connection(l.getsockname()); a, _ = l.accept()\n"
                "c.sendall(b'hello'); print(a.recv(5).decode())")
        for who in self.everybody():
            self.assertEqual(who.python(code).stdout, b"hello\n")

    def test_packets_cannot_be_made_by_hand(self):
        code = "import socket\ntry: socket.socket({0})\nexcept OSError as e: print(e.errno)"
        for family in ("socket.AF_PACKET, socket.SOCK_RAW", "socket.AF_NETLINK, socket.SOCK_RAW", "40, socket.SOCK_STREAM"):
            self.assertEqual(int(self.root.python(code.format(family)).stdout), errno.EAFNOSUPPORT, family)


main()
