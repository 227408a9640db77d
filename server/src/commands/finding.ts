/** The result of one check of the doctor. */
export type Finding = {
  check: string;
  state: 'ok' | 'warning' | 'failed';
  message: string;
  /** Absent if nothing is wrong. */
  advice?: string;
};

/** Makes a finding; the advice is left out of one that is `ok`. */
export function finding(check: string, state: Finding['state'], message: string, advice?: string): Finding {
  return { check, state, message, ...(advice === undefined || state === 'ok' ? {} : { advice }) };
}
