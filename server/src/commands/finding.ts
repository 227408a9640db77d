import type { Check, CheckReason } from '@homeport/contracts/checks';

/** The result of one check of the doctor. */
export type Finding = Check;

/** The reason of a finding, or the reason with its values: clients make their sentences from it. */
export type Cause = CheckReason | [reason: CheckReason, values: Finding['values']];

/** Makes a finding; the advice is left out of one that is `ok`. */
export function finding(
  check: string,
  state: Finding['state'],
  cause: Cause,
  message: string,
  advice?: string,
): Finding {
  const [reason, values] = typeof cause === 'string' ? [cause, {}] : cause;
  return { check, state, reason, values, message, ...(advice === undefined || state === 'ok' ? {} : { advice }) };
}
