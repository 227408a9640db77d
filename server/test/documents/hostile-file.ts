/** Malicious or broken files, each with the expected result: `ready`, or the reason why it is not read. */
export type HostileFile = { name: string; bytes: Buffer; said: string; warning?: string };

export function file(name: string, bytes: Uint8Array | string, said: string, warning?: string): HostileFile {
  return { name, bytes: Buffer.from(bytes), said, ...(warning === undefined ? {} : { warning }) };
}
