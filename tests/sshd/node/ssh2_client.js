'use strict';
// One ssh2 connection, for clients/ssh2_client.py: a line of JSON on stdin is a wish, a line on stdout what came of it.
// The end of stdin ends the connection.    node ssh2_client.js PORT USER HOST-KEY-IN-BASE64 AGENT-SOCKET
const readline = require('readline');
const { Client } = require('ssh2');

const [port, username, hostKey, agent] = process.argv.slice(2);
const connection = new Client();
const streams = new Map();

function say(word) {
  process.stdout.write(JSON.stringify(word) + '\n');
}

// The callback of every request: the wish was granted, perhaps with a stream, or refused.
function answer(channel) {
  return (error, stream) => {
    if (error) return say({ is: 'refused', why: error.message });
    if (stream && stream.stderr) follow(channel, stream);
    say({ is: 'granted' });
  };
}

function follow(channel, stream) {
  streams.set(channel, stream);
  stream.on('data', (bytes) => say({ channel, is: 'out', bytes: bytes.toString('base64') }));
  stream.stderr.on('data', (bytes) => say({ channel, is: 'err', bytes: bytes.toString('base64') }));
  stream.on('exit', (status, signal) => say({ channel, is: 'exit', status, signal: signal || null }));
  stream.on('close', () => say({ channel, is: 'close' }));
}

const doers = {
  exec: (w) => connection.exec(w.command, { pty: w.terminal || false }, answer(w.channel)),
  shell: (w) => connection.shell(w.terminal || false, answer(w.channel)),
  subsystem: (w) => connection.subsys(w.name, answer(w.channel)),
  X11: (w) => connection.exec('true', { x11: true }, answer(w.channel)),
  agent: (w) => connection.exec('true', { agentForward: true }, answer(w.channel)),
  'forward-in': (w) => connection.forwardIn('127.0.0.1', 0, answer(w.channel)),
  'forward-out': (w) => connection.forwardOut('127.0.0.1', 1, '127.0.0.1', w.port, answer(w.channel)),
  send: (w) => streams.get(w.channel).write(Buffer.from(w.bytes, 'base64')),
  end: (w) => streams.get(w.channel).end(),
  resize: (w) => streams.get(w.channel).setWindow(w.rows, w.columns, 0, 0),
  signal: (w) => streams.get(w.channel).signal(w.name),
  close: (w) => streams.get(w.channel).close(),
};

connection.on('ready', answer());
connection.on('error', answer());
const lines = readline.createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const wish = JSON.parse(line);
  doers[wish.do](wish);
});
lines.on('close', () => connection.end());
connection.connect({
  host: '127.0.0.1', port: Number(port), username, agent,
  hostVerifier: (key) => key.equals(Buffer.from(hostKey, 'base64')),
});
