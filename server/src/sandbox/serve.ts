import { Socket } from 'node:net';
import { encodeFrame, FrameReader } from './frames.ts';
import { type Answer, frameDescriptor, type Request } from './protocol.ts';

/** The side of the child process: runs one job after the other, each a task that is asked until it is closed. */

/** A job that has been opened. */
type TaskRun = {
  /** The first answer, before anything was asked. */
  opened?: unknown;
  ask?(question: unknown): Promise<unknown> | unknown;
  close?(): void;
};
/** `input` comes from the service and is trusted, except for bytes in it; `file` is the path of the one that was lent. */
export type Task = (input: unknown, file: string | undefined) => Promise<TaskRun>;
export type Tasks = Record<string, () => Promise<Task>>;

/** Thrown by a task for bytes that it refuses; `data` reaches the caller as it is. */
export class TaskRefused extends Error {
  readonly data: unknown;

  constructor(data: unknown) {
    super('refused');
    this.data = data;
  }
}

/** Answers requests until the service closes the pipe or ends. */
export function serveTasks(tasks: Tasks, end: (exitCode: number) => never): void {
  const socket = new Socket({ fd: frameDescriptor, readable: true, writable: true });
  const reader = new FrameReader('service');
  let run: TaskRun | undefined;
  let queue: Promise<void> = Promise.resolve();
  const send = (answer: Answer): void => {
    for (const part of encodeFrame(answer)) socket.write(part);
  };
  const handle = async (request: Request): Promise<void> => {
    if ('open' in request) {
      const task = await tasks[request.open]?.();
      if (task === undefined) throw new Error(`there is no task ${request.open}`);
      run = await task(request.input, request.file);
      send({ value: run.opened ?? null });
    } else if ('ask' in request) send({ value: (await run?.ask?.(request.ask)) ?? null });
    else {
      run?.close?.();
      run = undefined;
      send({ value: null });
    }
  };
  const answer = async (request: Request): Promise<void> => {
    try {
      await handle(request);
    } catch (error) {
      if (error instanceof TaskRefused) send({ refused: error.data });
      else send({ failed: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown' });
    }
  };
  socket.on('data', (chunk: Buffer) => {
    for (const request of reader.push(chunk)) queue = queue.then(() => answer(request as Request));
  });
  // A terminal or service manager signals all processes; the service decides when this one ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  socket.on('error', () => end(1));
  socket.on('end', () => end(0));
  send({ ready: true });
}
