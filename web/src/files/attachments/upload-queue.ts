import type { Artifact } from '@homeport/contracts/files/artifacts';

/** One running upload. `share` is the fraction sent, 0 to 1. */
export type Upload = {
  key: string;
  name: string;
  size: number;
  mediaType: string;
  state: 'waiting' | 'uploading' | 'failed' | 'refused';
  share: number;
  failure: unknown;
};

export type UploadDeps<T> = {
  upload: (
    file: File,
    options: { onProgress: (share: number) => void; signal: AbortSignal },
    key: string,
  ) => Promise<T>;
  /** The upload is complete; its entry has just left the queue. */
  onDone: (made: T, key: string) => void;
  /** Reason to reject a file without an upload; undefined to accept it. */
  refuse: (file: File) => 'too-large' | undefined;
};

const atOnce = 3;

/**
 * Running uploads: a few at a time, each can be canceled and retried. React reads it through `subscribe` and
 * `getView`.
 */
export class UploadQueue<T = Artifact> {
  readonly #deps: UploadDeps<T>;
  readonly #listeners = new Set<() => void>();
  readonly #files = new Map<string, File>();
  readonly #running = new Map<string, AbortController>();
  #view: readonly Upload[] = [];
  #keys = 0;

  constructor(deps: UploadDeps<T>) {
    this.#deps = deps;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  getView = (): readonly Upload[] => this.#view;

  /** True while a file is being uploaded or waits for its turn. */
  get isBusy(): boolean {
    return this.#view.some(({ state }) => state === 'waiting' || state === 'uploading');
  }

  add(files: readonly File[]): void {
    const added = files.map((file): Upload => {
      this.#keys += 1;
      const key = String(this.#keys);
      this.#files.set(key, file);
      const refusal = this.#deps.refuse(file);
      return {
        key,
        name: file.name,
        size: file.size,
        mediaType: file.type,
        state: refusal === undefined ? 'waiting' : 'refused',
        share: 0,
        failure: undefined,
      };
    });
    this.#change([...this.#view, ...added]);
    this.#pump();
  }

  /** Stops an upload, or removes a failed one from the list. */
  remove(key: string): void {
    this.#running.get(key)?.abort();
    this.#running.delete(key);
    this.#files.delete(key);
    this.#change(this.#view.filter((upload) => upload.key !== key));
    this.#pump();
  }

  retry(key: string): void {
    this.#set(key, { state: 'waiting', share: 0, failure: undefined });
    this.#pump();
  }

  #pump(): void {
    for (const { key, state } of this.#view) {
      if (this.#running.size >= atOnce) return;
      const file = this.#files.get(key);
      if (state === 'waiting' && file) void this.#run(key, file);
    }
  }

  async #run(key: string, file: File): Promise<void> {
    const abort = new AbortController();
    this.#running.set(key, abort);
    this.#set(key, { state: 'uploading' });
    const onProgress = (share: number) => this.#set(key, { share });
    try {
      const made = await this.#deps.upload(file, { onProgress, signal: abort.signal }, key);
      this.#running.delete(key);
      if (abort.signal.aborted) return;
      this.#files.delete(key);
      this.#change(this.#view.filter((upload) => upload.key !== key));
      this.#deps.onDone(made, key);
    } catch (failure) {
      this.#running.delete(key);
      if (!abort.signal.aborted) this.#set(key, { state: 'failed', failure });
    }
    this.#pump();
  }

  #set(key: string, change: Partial<Upload>): void {
    this.#change(this.#view.map((upload) => (upload.key === key ? { ...upload, ...change } : upload)));
  }

  #change(view: readonly Upload[]): void {
    this.#view = view;
    for (const listener of this.#listeners) listener();
  }
}
