import { ApiError } from '@homeport/contracts/errors';

/** Reason of a network failure, without details of the network. */
export type FailureReason =
  | 'dns'
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'tls'
  | 'reset'
  | 'protocol'
  | 'too_large'
  | 'encoded'
  | 'redirect';

/**
 * How far a call got. `connect`: the other side cannot have acted on any byte of the request; `request`: the request
 * may have been sent, but no response head came; `response`: the head had arrived.
 */
export type FailurePhase = 'connect' | 'request' | 'response';

/** The `details` of every `provider_unreachable` thrown here; safe to show. */
export type FailureDetails = { reason: FailureReason; phase: FailurePhase; certificate?: CertificateProblem };

/** Problem of a server's certificate, or of a server without TLS at an https address. */
type CertificateProblem = 'self_signed' | 'expired' | 'host' | 'untrusted' | 'not_tls';

const reasonText: Record<FailureReason, string> = {
  dns: 'its name could not be resolved',
  refused: 'the connection was refused',
  unreachable: 'there is no route to it',
  timeout: 'it did not answer in time',
  tls: 'no secure connection could be made',
  reset: 'the connection was closed early',
  protocol: 'its answer was not valid HTTP',
  too_large: 'its answer was too large',
  encoded: 'its response was compressed in a way that cannot be read',
  redirect: 'it redirected in a way that is not followed',
};

/** Sentences without a colon: the text after the last one is passed on. */
const certificateText: Record<CertificateProblem, string> = {
  self_signed: 'its certificate is self-signed; name its file in NODE_EXTRA_CA_CERTS and restart Homeport',
  expired: 'its certificate has expired or is not valid yet',
  host: 'its certificate was issued for another name',
  untrusted: 'the authority of its certificate is unknown; name its file in NODE_EXTRA_CA_CERTS and restart Homeport',
  not_tls: 'it does not use TLS; use http instead of https, or the port for https',
};

const blockedMessage =
  'This address is not allowed, or its name cannot be resolved. Private addresses need ALLOW_PRIVATE_EGRESS, and plain HTTP needs ALLOW_INSECURE_HTTP.';

/** The guard's only refusal: constant, so that it reveals no names or addresses inside the network. */
export function blockedDestination(): ApiError {
  return new ApiError('blocked_destination', blockedMessage);
}

/** A network failure without addresses, headers or bodies; `cause` is only logged, as a code. */
export function unreachable(reason: FailureReason, phase: FailurePhase, error?: unknown): ApiError {
  const certificate = reason === 'tls' ? certificateProblem(error) : undefined;
  const details: FailureDetails = { reason, phase, ...(certificate === undefined ? {} : { certificate }) };
  const text = certificate === undefined ? reasonText[reason] : certificateText[certificate];
  return new ApiError('provider_unreachable', `The service could not be reached: ${text}.`, { details });
}

/** The details of an error made by `unreachable`; undefined for any other error. */
export function failureDetails(error: unknown): FailureDetails | undefined {
  if (!(error instanceof ApiError) || error.code !== 'provider_unreachable') return undefined;
  const details = error.details;
  if (typeof details !== 'object' || details === null || !('reason' in details) || !('phase' in details))
    return undefined;
  const { reason, phase } = details;
  if (!isReason(reason) || !isPhase(phase)) return undefined;
  const certificate = 'certificate' in details ? details.certificate : undefined;
  return isCertificateProblem(certificate) ? { reason, phase, certificate } : { reason, phase };
}

function isReason(value: unknown): value is FailureReason {
  return typeof value === 'string' && Object.hasOwn(reasonText, value);
}

function isPhase(value: unknown): value is FailurePhase {
  return value === 'connect' || value === 'request' || value === 'response';
}

const problemOfCode: Record<string, CertificateProblem> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'self_signed',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'host',
  HOSTNAME_MISMATCH: 'host',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  CERT_UNTRUSTED: 'untrusted',
  CERT_REVOKED: 'untrusted',
  CERT_REJECTED: 'untrusted',
  CERT_CHAIN_TOO_LONG: 'untrusted',
  CERT_SIGNATURE_FAILURE: 'untrusted',
  INVALID_CA: 'untrusted',
  INVALID_PURPOSE: 'untrusted',
  ERR_SSL_WRONG_VERSION_NUMBER: 'not_tls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'not_tls',
  ERR_SSL_HTTP_REQUEST: 'not_tls',
};

function certificateProblem(error: unknown): CertificateProblem | undefined {
  for (
    let current: unknown = error, depth = 0;
    current instanceof Error && depth < 5;
    current = current.cause, depth += 1
  ) {
    const code = 'code' in current && typeof current.code === 'string' ? current.code : '';
    const known = problemOfCode[code];
    if (known !== undefined) return known;
    if (code === 'EPROTO' && /wrong version number|packet length too long/i.test(current.message)) return 'not_tls';
  }
  return undefined;
}

function isCertificateProblem(value: unknown): value is CertificateProblem {
  return typeof value === 'string' && Object.values(problemOfCode).some((problem) => problem === value);
}

const reasonOfCode: Record<string, FailureReason> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  EAI_NONAME: 'dns',
  ENODATA: 'dns',
  ESERVFAIL: 'dns',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ECONNABORTED: 'reset',
  EPROTO: 'tls',
};

/** The reason class of an error thrown by Node. */
export function reasonOf(error: unknown): FailureReason {
  for (
    let current: unknown = error, depth = 0;
    current instanceof Error && depth < 5;
    current = current.cause, depth += 1
  ) {
    const code = 'code' in current && typeof current.code === 'string' ? current.code : '';
    const known = reasonOfCode[code];
    if (known !== undefined) return known;
    if (Object.hasOwn(problemOfCode, code)) return 'tls';
    if (code.startsWith('HPE_')) return 'protocol';
    if (
      code.startsWith('ERR_TLS') ||
      code.startsWith('ERR_SSL') ||
      code.includes('CERT') ||
      code.includes('SIGNATURE')
    ) {
      return 'tls';
    }
    if (current instanceof AggregateError) {
      const inner = current.errors.map(reasonOf).find((reason) => reason !== 'reset');
      if (inner !== undefined) return inner;
    }
  }
  return 'reset';
}
