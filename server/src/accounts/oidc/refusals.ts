import { type OidcRefusal, oidcRefusals } from '@homeport/contracts/accounts/accounts';
import { ApiError } from '@homeport/contracts/errors';

/** An error of the provider (RFC 6749, sections 4.1.2.1 and 5.2): its code and its own explanation, unbounded text. */
export type ProviderWords = { error: string; error_description?: string | undefined };

/** Ends a single sign-on with a code that the person sees explained. The message is for the log. */
export class Refusal extends Error {
  readonly code: OidcRefusal;
  readonly said: ProviderWords | undefined;

  constructor(code: OidcRefusal, message: string = code, cause?: unknown, said?: ProviderWords) {
    super(message, { cause });
    this.code = code;
    this.said = said;
  }
}

/** The refusal in an error; any other error is thrown again. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ApiError) return new Refusal(codeOf(error), error.message, error);
  throw error;
}

function codeOf(error: ApiError): OidcRefusal {
  if (error.code === 'provider_unreachable' || error.code === 'blocked_destination') return 'provider_unreachable';
  if (error.code === 'provider_error') return 'provider_error';
  return error.code === 'not_found' || error.code === 'credentials_unreadable' ? 'sso_unavailable' : 'sign_in_failed';
}

/**
 * The codes that a provider sends through the browser (RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6).
 */
const sent: Readonly<Record<string, OidcRefusal>> = {
  login_required: 'access_denied',
  interaction_required: 'access_denied',
  consent_required: 'access_denied',
  server_error: 'provider_error',
  temporarily_unavailable: 'provider_unreachable',
  invalid_request: 'provider_error',
  unauthorized_client: 'provider_error',
  unsupported_response_type: 'provider_error',
  invalid_scope: 'provider_error',
};

/** Our code for what the provider sent through the browser; nothing that it wrote is passed on. */
export function oidcErrorCode(text: string): OidcRefusal {
  return oidcRefusals.find((refusal) => refusal === text) ?? sent[text] ?? 'sign_in_failed';
}
