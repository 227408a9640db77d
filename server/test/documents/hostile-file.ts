/** Malicious or broken files, each with the expected result: `ready`, or the reason why it is not read. */
export type HostileFile = { name: string; bytes: Buffer; expected: string; warning?: string };

export function file(name: string, bytes: Uint8Array | string, expected: string, warning?: string): HostileFile {
  return { name, bytes: Buffer.from(bytes), expected, ...(warning === undefined ? {} : { warning }) };
}
