import type { Duplex } from 'node:stream';
import { ApiError } from '@homeport/contracts/errors';
import type { DaemonHealth } from '@homeport/contracts/workspace/daemon';
import type { DaemonDownload } from '../egress/daemon-download.ts';
import type { DaemonRequestInit, DaemonResponse } from '../egress/daemon-request.ts';

/** A daemon that states another protocol version than this release's, or none: its workspace has to be replaced. */
export class OtherProtocol extends ApiError {
  /** As stated; undefined if it is no number. */
  readonly version: number | undefined;
  /** Commands, terminals or transfers are running in it, or it is unknown whether any are. */
  readonly isBusy: boolean;

  constructor({ version, isBusy }: { version: number | undefined; isBusy: boolean }) {
    super('workspace_request_failed', 'The workspace belongs to another release of Homeport');
    this.version = version;
    this.isBusy = isBusy;
  }
}

type DownloadWish = { method: 'GET' | 'HEAD'; headers: Record<string, string>; signal: AbortSignal };

/** The daemon of one running workspace, treated as untrusted: every response is bounded and checked. */
export type Daemon = {
  /**
   * One request with the daemon's token. Resolves with its response whatever the status, before the body is read.
   * Throws `workspace_request_failed` if the daemon is unreachable, sends an invalid response or is too slow.
   */
  request(path: string, init?: DaemonRequestInit): Promise<DaemonResponse>;
  /**
   * JSON of at most 4 MiB that matches the schema. Refusals become ApiErrors: `invalid_path`, `not_found`,
   * `path_taken`, `payload_too_large`, `storage_full`, or `invalid_request` with the daemon's message; anything else is
   * `workspace_request_failed`. `timeoutMs` covers everything: 60 s by default.
   */
  call<T>(
    path: string,
    schema: { parse(value: unknown): T },
    init?: DaemonRequestInit & { json?: unknown; timeoutMs?: number },
  ): Promise<T>;
  /** Requests many bytes. Throws like `request`; returns any status. */
  download(path: string, wish: DownloadWish): Promise<DaemonDownload>;
  /** Opens a WebSocket: its raw bytes after the handshake. Throws like `call`, including refusals. */
  upgrade(path: string, signal?: AbortSignal): Promise<Duplex>;
  /** Throws like `call`, and OtherProtocol. */
  health(signal?: AbortSignal): Promise<DaemonHealth>;
};
