/** The path of a Helm, undefined when there is none. */
export function findHelm(): string | undefined;
