/** English texts of failures of model providers. */
export const providerEnglish = {
  provider_error: 'The provider answered with an error. Check the provider and the model.',
  'provider_error.quota':
    'The quota of the account at the provider is used up. Raise its limit there, or choose another model.',
  'provider_error.quota.retryAt':
    'The quota of the account at the provider is used up until {retryAt}. Raise its limit there, or choose another model.',
  'provider_error.credit': 'The account at the provider has no credit left. Add credit there, or choose another model.',
  'provider_error.key': 'The provider refused the API key. Check the API key of the provider.',
  'provider_error.content_filter':
    'The provider’s content filter refused the request. Reword the message, or choose another model.',
  'provider_error.loading': 'The model is still loading. Try again in a minute.',
  'provider_error.certificate':
    'The provider’s certificate is not trusted. If it comes from your own certificate authority, name its file in NODE_EXTRA_CA_CERTS and restart Homeport.',
  'provider_error.certificate.self_signed':
    'The provider’s certificate is self-signed and not trusted. Name its file in NODE_EXTRA_CA_CERTS and restart Homeport.',
  'provider_error.certificate.expired':
    'The provider’s certificate has expired or is not valid yet. Renew it, and check the clock of the server. NODE_EXTRA_CA_CERTS does not help here.',
  'provider_error.certificate.host':
    'The provider’s certificate was issued for another name. Use the name in the certificate as the address. NODE_EXTRA_CA_CERTS does not help here.',
  'provider_error.certificate.not_tls':
    'The server at this https address does not use TLS, so there is no certificate to trust. Use http instead of https, or the port for https; NODE_EXTRA_CA_CERTS does not help here.',
  'provider_error.protocol':
    'The model or the address needs another protocol. Choose another protocol for the provider, or another model.',
  'provider_error.protocol.answered':
    'This address answered as {answered}; the provider is set to {expected}. Choose that protocol, or check the base URL.',
  'provider_error.protocol.needs_tls': 'The server expects https at this address. Use https instead of http.',
  'provider_error.protocol.web_page':
    'The provider answered with a web page. Check the base URL (it often ends in /v1).',
  'provider_error.context':
    'The conversation is too long for the model. Check the model’s context window in its settings, or start a fresh context.',
  'provider_error.parameter': 'The provider refused a setting of the request. Check the model’s settings and limits.',
  'provider_error.parameter.parameter':
    'The provider refused the setting “{parameter}”. Check the model’s settings and limits.',
  'provider_error.tools':
    'The provider refused the tools of this conversation. Choose a model that can use tools, or switch them off for this model.',
  'provider_error.images':
    'The provider refused a picture: the model takes none, or this one is too large or damaged. Choose another model, or remove the picture.',
  'provider_error.overloaded': 'The provider is overloaded. Try again in a moment.',
  'provider_error.overloaded.retryAt': 'The provider is overloaded. Try again after {retryAt}.',
  'provider_error.rate_limit': 'The provider is limiting requests. Wait a moment and try again.',
  'provider_error.rate_limit.retryAt': 'The provider is limiting requests until {retryAt}. Try again then.',
  'provider_error.other.model': 'The provider does not know this model. Check the model id.',
  'provider_error.other.address':
    'The provider does not know this address or model. Check the base URL and the model id.',
  'provider_error.other.version':
    'There is no list of models at this base URL, but there is one at {baseUrl}. Use that base URL.',
  'provider_error.other.access': 'The provider denied access. Check the API key and whether it may use this model.',
  'provider_error.other.size': 'The request is too large for the provider. Start a fresh context or send less.',
  'provider_error.other.timeout': 'The provider took too long to answer. Try again.',
  'provider_error.other.redirect': 'The provider redirects to another address. Check the base URL.',
  'provider_error.other.internal': 'The provider had an internal error. Try again later.',
  'provider_error.other.refused':
    'The provider refused the request. Check the model id and the limits set for the model.',
  'provider_error.other.malformed_call':
    'The model’s tool call could not be read, twice. Try again, or choose another model.',
  'provider_error.other.unreadable': 'The provider sent an unexpected response.',
} as const;
