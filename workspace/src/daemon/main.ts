import { closeSync, writeSync } from 'node:fs';
import type { Server } from 'node:http';
import { clock } from '../clock.ts';
import { collectGarbage, endProcess } from '../end-process.ts';
import { trackActivity } from './activity.ts';
import { type Address, bridgePort, modelsPort, readConfig } from './config.ts';
import { startControlPlaneWatchdog } from './control-plane-watchdog.ts';
import { DaemonError } from './daemon-error.ts';
import { getHealth } from './health.ts';
import { createDaemonServer, type Exchange, hasToken, type Route, sendJson } from './http.ts';
import type { Daemon } from './state.ts';

/** By then the control plane has asked for the health of a new daemon. */
const settledMs = 2_000;

const daemon: Daemon = { config: readConfig(), activity: trackActivity(), log };

// Loaded on first use: an idle daemon needs little memory and starts sooner.
const routes: Route[] = [
  { method: '*', path: /^\/v1\/files(?:\/.*)?$/, handler: files },
  { method: '*', path: /^\/v1\/changes(?:\/.*)?$/, handler: changes },
  { method: 'GET', path: /^\/v1\/notes$/, handler: notes },
  { method: 'GET', path: /^\/v1\/exec$/, handler: async (exchange) => (await exec()).getExec(exchange) },
  { method: 'POST', path: /^\/v1\/exec$/, handler: async (exchange) => (await exec()).postExec(exchange) },
  { method: 'GET', path: /^\/v1\/processes$/, handler: async (exchange) => (await exec()).getProcesses(exchange) },
  {
    method: 'GET',
    path: /^\/v1\/processes\/([^/]+)\/output$/,
    handler: async (exchange, id = '') => (await exec()).getOutput(exchange, id),
  },
  {
    method: 'POST',
    path: /^\/v1\/processes\/([^/]+)\/signal$/,
    handler: async (exchange, id = '') => (await exec()).postSignal(exchange, id),
  },
  {
    method: 'DELETE',
    path: /^\/v1\/terminal$/,
    handler: async (exchange) => (await terminals()).deleteTerminal(exchange),
  },
  { method: 'GET', path: /^\/v1\/ports$/, handler: async (exchange) => (await ports()).getPorts(exchange) },
  { method: 'POST', path: /^\/v1\/drain$/, handler: drain },
  { method: 'POST', path: /^\/v1\/shutdown$/, handler: shutdown },
];

const watchdog = startControlPlaneWatchdog(() => {
  log('no request from the control plane for half an hour');
  end();
});
const server = createDaemonServer({
  tokenHash: daemon.config.tokenHash,
  routes,
  open: (exchange) => isHealth(exchange),
  onRequest: () => {
    watchdog.reset();
    daemon.activity.touch();
  },
  upgrade: async (request, socket, head, url) => {
    if (url.pathname === '/v1/pipe') return (await pipes()).upgrade(request, socket, head);
    if (url.pathname === '/v1/tunnel') return (await ports()).upgrade(request, socket, head, url.query);
    if (url.pathname !== '/v1/terminal') throw new DaemonError('not_found', 'No such endpoint');
    (await terminals()).upgrade(request, socket, head, url.query);
  },
  log,
});

function isHealth(exchange: Exchange): boolean {
  if (exchange.pathname !== '/v1/health' || exchange.method !== 'GET') return false;
  if (hasToken(daemon.config.tokenHash, exchange.request)) watchdog.reset();
  getHealth(exchange, daemon);
  return true;
}

async function files(exchange: Exchange): Promise<void> {
  const { handleFiles } = await import('./files/requests.ts');
  await handleFiles(exchange, daemon);
}

async function changes(exchange: Exchange): Promise<void> {
  const { handleChanges } = await import('./changes/requests.ts');
  await handleChanges(exchange, daemon);
}

async function notes(exchange: Exchange): Promise<void> {
  const { getNotes } = await import('./notes.ts');
  await getNotes(exchange, daemon);
}

type Exec = ReturnType<typeof import('./exec/requests.ts').createExec>;
let madeExec: Exec | undefined;

async function exec(): Promise<Exec> {
  const { createExec } = await import('./exec/requests.ts');
  madeExec ??= createExec(daemon);
  return madeExec;
}

type Terminals = ReturnType<typeof import('./terminal/requests.ts').createTerminals>;
let madeTerminals: Terminals | undefined;

async function terminals(): Promise<Terminals> {
  const { createTerminals } = await import('./terminal/requests.ts');
  madeTerminals ??= createTerminals(daemon);
  return madeTerminals;
}

type Pipes = ReturnType<typeof import('./pipe/requests.ts').createPipes>;
let madePipes: Pipes | undefined;

async function pipes(): Promise<Pipes> {
  const { createPipes } = await import('./pipe/requests.ts');
  madePipes ??= createPipes(daemon);
  return madePipes;
}

type Ports = ReturnType<typeof import('./ports/requests.ts').createPorts>;
let madePorts: Ports | undefined;

async function ports(): Promise<Ports> {
  const { createPorts } = await import('./ports/requests.ts');
  madePorts ??= createPorts(daemon);
  return madePorts;
}

async function drain(exchange: Exchange): Promise<void> {
  const { startDraining } = await import('./drain.ts');
  await startDraining(exchange, daemon);
}

function shutdown(exchange: Exchange): void {
  exchange.response.on('close', end);
  sendJson(exchange, 200, { ok: true });
}

function end(): void {
  madeExec?.endAll();
  madeTerminals?.endAll();
  madePipes?.endAll();
  endProcess(0);
}

function log(message: string, error?: unknown): void {
  const detail = error instanceof Error ? `: ${error.message}` : '';
  process.stderr.write(`daemon: ${message}${detail}\n`);
}

function listen(at: Server, address: Address): void {
  at.on('error', (error) => {
    log('cannot listen', error);
    endProcess(1);
  });
  // The folder of a socket decides who may reach it.
  at.listen('path' in address ? { ...address, readableAll: true, writableAll: true } : address, ready);
}

function ready(): void {
  clock.after(settledMs, collectGarbage);
  bridgeEgress().catch((error) => log('there is no way out', error));
  bridgeModels().catch((error) => log('no models can be asked', error));
  const { readyFd } = daemon.config;
  if (readyFd === undefined) return;
  try {
    writeSync(readyFd, 'ready\n');
    closeSync(readyFd);
  } catch (error) {
    log('nobody hears that it is ready', error);
  }
}

async function bridgeModels(): Promise<void> {
  const { modelsUrl, tokenFile, commandEnvironment } = daemon.config;
  if (modelsUrl === undefined || tokenFile === undefined) return;
  const { readModelToken, startModelsBridge } = await import('./models-bridge.ts');
  await startModelsBridge({ url: modelsUrl, port: modelsPort });
  commandEnvironment.OPENAI_BASE_URL = `http://127.0.0.1:${modelsPort}/v1`;
  commandEnvironment.OPENAI_API_KEY = readModelToken(tokenFile);
}

async function bridgeEgress(): Promise<void> {
  const { egress, tokenFile } = daemon.config;
  if (egress === undefined) return;
  const { startEgressBridge } = await import('./egress-bridge.ts');
  await startEgressBridge({ egress, tokenFile, port: bridgePort });
}

// The reader can be gone: workspaces outlive the control plane.
process.stderr.on('error', () => undefined);
process.on('SIGTERM', end);
process.on('SIGINT', end);
listen(server, daemon.config.listen);
