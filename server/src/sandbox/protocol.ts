/** Messages between the service and a child process, one frame each. */

type Opening = { open: string; input: unknown; file?: string };
type Asking = { ask: unknown };
type Closing = { close: true };
export type Request = Opening | Asking | Closing;

/** `value` answers `open` and `ask`; `refused` ends the job in an orderly way, with data for the caller. */
export type Answer = { ready: true } | { value: unknown } | { refused: unknown } | { failed: string };

/** The descriptor of the child that carries the frames, in both directions. */
export const frameDescriptor = 3;
