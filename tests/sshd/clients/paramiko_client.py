"""Python's paramiko."""
import logging

import paramiko
from paramiko.common import MSG_CHANNEL_REQUEST, cMSG_CHANNEL_REQUEST

from clients.channel import SECONDS, Channel, Refused

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # refusals are what is tested here


class ParamikoChannel(Channel):
    def __init__(self, raw):
        super().__init__()
        self.raw = raw
        raw.settimeout(SECONDS)

    def follow(self):
        readers = [self.collect(lambda: self.raw.recv(65536), self.out), self.collect(lambda: self.raw.recv_stderr(65536), self.err)]
        self.in_background(lambda: self._end_behind(readers))
        return self

    def _end_behind(self, readers):
        for reader in readers:
            reader.join()
        status = self.raw.recv_exit_status()
        self.status, self.signalled = (None if status == -1 else status), getattr(self.raw, "mayfly_signal", None)
        self.note_end()

    def send(self, data):
        self.raw.sendall(data)

    def end_input(self):
        self.raw.shutdown_write()

    def resize(self, rows, columns):
        self.raw.resize_pty(columns, rows)

    def signal(self, name):
        """paramiko has no call for it."""
        message = paramiko.Message()
        message.add_byte(cMSG_CHANNEL_REQUEST)
        message.add_int(self.raw.remote_chanid)
        message.add_string("signal")
        message.add_boolean(False)
        message.add_string(name)
        self.raw.transport._send_user_message(message)

    def close(self):
        self.raw.close()


def hear_exit_signals():
    """paramiko takes an exit-signal for a request that it does not know; it is noted on the channel."""
    handlers = paramiko.Transport._channel_handler_table
    handle = handlers[MSG_CHANNEL_REQUEST]

    def noting(channel, message):
        words = paramiko.Message(message.get_remainder())
        if words.get_text() == "exit-signal":
            words.get_boolean()
            channel.mayfly_signal = words.get_text()
        return handle(channel, message)
    handlers[MSG_CHANNEL_REQUEST] = noting


hear_exit_signals()


class ParamikoConnection:
    def __init__(self, place, user):
        self.transport = paramiko.Transport(("127.0.0.1", place.port))
        try:
            self.transport.start_client(timeout=SECONDS)
            assert self.transport.get_remote_server_key().asbytes() == place.key
            self.transport.auth_none(user)
        except paramiko.BadAuthenticationType as refusal:
            self.transport.close()
            raise Refused(str(refusal)) from refusal

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.transport.close()
        self.transport.join(SECONDS)

    def open(self):
        return self.transport.open_session(timeout=SECONDS)

    def start(self, command=None, terminal=None):
        raw = self.open()
        if terminal:
            raw.get_pty("xterm", width=terminal[1], height=terminal[0])
        if command is None:
            raw.invoke_shell()
        else:
            raw.exec_command(command)
        return ParamikoChannel(raw).follow()

    def has_subsystem(self, name):
        return not self.is_denied(lambda: self.open().invoke_subsystem(name))

    @staticmethod
    def is_denied(ask):
        try:
            ask()
        except paramiko.SSHException:
            return True
        return False

    def reach(self, target):
        try:
            return self.transport.open_channel("direct-tcpip", ("127.0.0.1", target), ("127.0.0.1", 1), timeout=SECONDS).recv(4096)
        except paramiko.ChannelException:
            return b""


class Paramiko:
    name = "paramiko"
    skills = frozenset({"terminal", "channels", "subsystem", "signal"})
    killed = (None, "TERM")
    told = {"remote", "X11"}  # it wants no answer when it asks for an agent

    def __init__(self, place):
        self.place = place

    def connect(self, user):
        return ParamikoConnection(self.place, user)

    def start(self, user, command=None, terminal=None):
        connection = self.connect(user)
        return connection.start(command, terminal).closing_with(connection)

    def is_refused(self, user):
        try:
            with self.connect(user):
                return False
        except Refused:
            return True

    def has_subsystem(self, name):
        with self.connect("run") as connection:
            return connection.has_subsystem(name)

    def start_asking(self, target):
        connection = self.connect("run")
        denied = set()
        if connection.is_denied(lambda: connection.transport.request_port_forward("127.0.0.1", 0)):
            denied.add("remote")
        if connection.is_denied(lambda: connection.open().request_x11()):  # and paramiko closes that channel
            denied.add("X11")
        raw = connection.open()
        raw.request_forward_agent(lambda channel: None)
        raw.exec_command("env; echo ready; cat")
        channel = ParamikoChannel(raw).follow().closing_with(connection)
        channel.denied = denied
        channel.reach = lambda: connection.reach(target)
        return channel

    def refused(self, channel):
        return channel.denied
