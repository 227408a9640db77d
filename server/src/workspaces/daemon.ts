import type { Duplex } from 'node:stream';
import type { DaemonHealth } from '@homeport/contracts/daemon';
import type { DaemonDownload } from '../egress/daemon-download.ts';
import type { DaemonRequestInit, DaemonResponse } from '../egress/daemon-request.ts';

type DownloadWish = { method: 'GET' | 'HEAD'; headers: Record<string, string>; signal: AbortSignal };

/** The daemon of one running workspace, spoken to as to a stranger: every answer is bounded and checked. */
export type Daemon = {
  /**
   * One request with the daemon's token. Resolves with its answer whatever the status; the body is not read yet.
   * Throws `workspace_request_failed` when it cannot be reached, answers nonsense or is too slow.
   */
  request(path: string, init?: DaemonRequestInit): Promise<DaemonResponse>;
  /**
   * JSON of at most 4 MiB that fits the schema. Its refusals become ApiErrors: `invalid_path`, `not_found`, `path_taken`,
   * `payload_too_large`, `storage_full`, `invalid_request` with the daemon's words; anything else `workspace_request_failed`. `timeoutMs` is for
   * all of it: 60 s unless said otherwise.
   */
  call<T>(
    path: string,
    schema: { parse(value: unknown): T },
    init?: DaemonRequestInit & { json?: unknown; timeoutMs?: number },
  ): Promise<T>;
  /** Asks for many bytes. Throws as `request`; the status may be any. */
  download(path: string, wish: DownloadWish): Promise<DaemonDownload>;
  /** Opens a WebSocket: its raw bytes after the handshake. Throws as `call`; refusals included. */
  upgrade(path: string, signal?: AbortSignal): Promise<Duplex>;
  health(signal?: AbortSignal): Promise<DaemonHealth>;
};
