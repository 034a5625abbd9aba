"""The SSH clients that people use, each behind the same small interface.

A client has `name`, `skills` and `killed`, what it makes of a program that SIGTERM ended: (status, signal). It can
  start(user, command, terminal)   one program over a connection of its own: a Channel (channel.py)
  connect(user)                    with "channels" among its skills: a connection whose start(command, terminal) gives Channels
  is_refused(user)                 whether this user name is not let in
  has_subsystem(name)              with "subsystem": whether this is served; a connection has it too
  start_asking(target)             a program that prints its environment and "ready", having asked for agent, X11 and remote
                                   forwarding; its reach() is what a local forward to port `target` reads
  refused(channel)                 which of these were refused, among those of which the client tells it (`told`)
`terminal` is (rows, columns) or None.
"""
from clients.command_line import Dbclient, OpenSsh, Plink
from clients.paramiko_client import Paramiko
from clients.ssh2_client import Ssh2


def all_clients(place):
    """`place` is where the service is (place.py)."""
    return [kind(place) for kind in (OpenSsh, Dbclient, Plink, Paramiko, Ssh2)]
