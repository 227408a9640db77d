/** Reasons of `provider_error`, as `details.reason` (contract.md section 12). */
export type ProviderReason =
  | 'quota'
  | 'credit'
  | 'key'
  | 'content_filter'
  | 'loading'
  | 'certificate'
  | 'protocol'
  | 'context'
  | 'parameter'
  | 'tools'
  | 'images'
  | 'overloaded'
  | 'rate_limit'
  | 'other';

/** Narrower causes of a reason, each with words of its own: `details.values.problem`. */
export type ProviderProblem =
  | 'self_signed'
  | 'expired'
  | 'host'
  | 'untrusted'
  | 'not_tls'
  | 'needs_tls'
  | 'web_page'
  | 'unreadable'
  | 'malformed_call'
  | 'model'
  | 'address'
  | 'version'
  | 'access'
  | 'size'
  | 'timeout'
  | 'redirect'
  | 'internal'
  | 'refused';

/** `details` of a `provider_error`: facts from which the client makes a sentence in the reader's language. */
export type ProviderErrorDetails = {
  /** HTTP status of the provider's response, if there was one. */
  status?: number;
  reason: ProviderReason;
  values: {
    /** ISO time. */
    retryAt?: string;
    parameter?: string;
    problem?: ProviderProblem;
    /** Protocol of the answer, and the one that is set for the provider. */
    answered?: string;
    expected?: string;
  };
  /** First sentence of the provider's own message, without keys and control characters. Never an instruction. */
  providerMessage?: string;
};
