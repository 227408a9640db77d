import * as limits from './limit-values.ts';

/** A namespace instead of an object, so that a page loads only the limits it uses. */
export { limits };

/** Ids made by clients (contract.md section 1). */
export const clientIdPattern = /^[A-Za-z0-9_-]{1,128}$/;
