import type {
  ProviderErrorDetails,
  ProviderProblem,
  ProviderReason,
} from '@homeport/contracts/error-texts/provider-reasons';
import { isOverflow } from '../fitting/limits.ts';
import { type FailureFacts, namedParameter } from './failure-facts.ts';
import { retryTimeIn } from './retry-delay.ts';

type Rule = {
  reason: ProviderReason;
  problem?: ProviderProblem;
  /** Statuses for which the wording counts; all, if absent. */
  statuses?: (status: number) => boolean;
  wording: RegExp;
  /** A further wording that has to be there. */
  also?: RegExp;
};

/**
 * Wordings of providers' refusals, in order: the first match decides. A status alone means little, since a used-up
 * account is 400, 402, 403 or 429, and a wrong key 400, 401, 403 or 429.
 */
const rules: readonly Rule[] = [
  {
    reason: 'content_filter',
    wording:
      /content[_ ]?filter|ResponsibleAIPolicy|content management policy|content_policy|content policy violation|content exists risk|data_?inspection_?failed|inappropriate content|prohibited_content|violates? (?:our |the )?(?:usage|content|safety)|violating our (?:usage|content)|safety system|requires moderation|flagged (?:as|by|for)|considered high risk|sensitive content|敏感内容|不安全/i,
  },
  {
    reason: 'credit',
    wording:
      /credit balance is too low|insufficient[_ ](?:account )?(?:balance|credits?|funds)|balance (?:is |not )?(?:insufficient|enough)|(?:not|n[o']t) (?:have )?(?:enough|any) credits|requires? (?:more|at least [\d.$]{1,12}) credits|can only afford|used all available credits|monthly included credits|credit limit (?:exceeded|reached)|out of credits|no credits|billing_not_active|check your billing details on our website|billing_error|billing account|payment (?:is )?required|negative balance|arrearage|account is in good standing|overdue|余额不足|欠费/i,
  },
  { reason: 'quota', wording: /requestsperday|tokensperday/i },
  { reason: 'rate_limit', wording: /perminute/i },
  {
    reason: 'quota',
    wording:
      /insufficient_quota|exceeded_current_quota|billing_hard_limit|(?:token|request|budget)_(?:quota_)?exceeded\b|budget has been exceeded|quota (?:is |has been )?(?:exhausted|used up)|limit: 0\b|allocat(?:ed|ion) ?quota|free tier of the model|monthly (?:spending|usage|request) limit|spend(?:ing)? limit|hard limit has been reached|specified api usage limits|usage limit (?:has been )?(?:reached|exceeded)|calls \/ month|(?:out of|over) quota|额度/i,
  },
  {
    reason: 'quota',
    statuses: (status) => status !== 429,
    wording: /exceeded your current (?:token )?quota|quota[_ ]exceeded/i,
  },
  {
    reason: 'key',
    wording:
      /api[-_ ]?key[-_ ](?:is )?(?:not valid|invalid|missing|expired|was reported|not found|has been|does not exist)|(?:invalid|incorrect|wrong|malformed|missing|expired|unknown|no) (?:or missing |or expired )?(?:x-)?api[-_ ]?(?:key|token)|invalid_?api_?key|provide an api key|invalid_?authentication|authentication[_ ](?:error|fails|failed)|invalid authentication|no (?:cookie )?auth credentials|missing authentication|invalid subscription key|security token included in the request is (?:invalid|expired)|invalid proxy server token|virtual key|api token|unregistered callers|consumer_suspended|account_deactivated|invalid token|login fail|token (?:is )?expired|无效的令牌|令牌已过期|身份验证/i,
  },
  {
    reason: 'loading',
    wording:
      /^\W{0,3}loading (?:the )?model\W{0,3}$|server loading model|\bis (?:still |currently |now )?(?:loading|starting|warming|initializing|being loaded)\b|currently loading|model[_ ]loading|is not (?:yet )?ready|still (?:loading|starting|warming up)/im,
  },
  {
    reason: 'images',
    statuses: (status) => status !== 429,
    wording:
      /(?:support|accept|handle|process)\w{0,3} (?:image|vision|multimodal|picture)|image[_ ]?(?:url|s|input)?`? (?:is|are) (?:not|only) (?:supported|allowed)|image input (?:is not|modality)|not a multimodal model|not (?:have|support) vision|unknown variant `image_url`|at most 0 image|image exceeds|images? (?:is |are )?(?:too large|not valid|invalid)|unsupported image|mmproj|could not (?:process|decode|download) image|invalid[_ ]image|cannot read image/i,
  },
  {
    reason: 'tools',
    statuses: (status) => status !== 429,
    wording:
      /support\w{0,3} (?:tools?\b|tool[_ -]?(?:use|call)|function[_ -]?call)|function calling is not|tool[_ -]?(?:use|call(?:ing|s)?|choice)`? (?:is|are) not|tools?`? (?:is|are) not supported|enable-auto-tool-choice|invalid (?:schema for function|'?tools)|tools\.\d{1,4}\.|tools\[\d{1,4}\]|tool_use_failed|function_declarations|tool_use(?:_id|` ids)?\b|tool_call_id/i,
  },
  {
    reason: 'other',
    problem: 'model',
    statuses: (status) => status < 500 && status !== 429,
    wording:
      /model[_ ]not[_ ]found|not a valid model|invalid model|unknown model|no such model|no endpoints found for|deploymentnotfound|deployment for this resource does not exist|decommissioned|model_decommissioned|模型不存在/im,
  },
  {
    reason: 'other',
    problem: 'model',
    statuses: (status) => status < 500 && status !== 429,
    wording: /does not exist|not (?:be )?found|not available|not exist|not_found_error/i,
    also: /\bmodels?\b/i,
  },
  {
    reason: 'protocol',
    problem: 'needs_tls',
    wording: /plain http request was sent to https|http request to an https server/i,
  },
  {
    reason: 'protocol',
    wording:
      /only supported in v1\/|not (?:a chat model|supported in the v1\/)|unsupported legacy protocol|use (?:the )?(?:\/v1\/)?responses(?: api)? instead|please use \/v1\/|only support\w{0,3} (?:the )?responses/i,
  },
  {
    reason: 'parameter',
    statuses: (status) => status < 429,
    wording:
      /(?:unsupported|unknown|unrecognized|invalid|unexpected) (?:parameter|argument|field|request argument|value|name|property)|extra[_ ](?:inputs|forbidden|fields)|is not supported with|not supported (?:for|by|with) this model|property ['"`]?[\w.]{1,60}['"`]? is unsupported|unrecognized_keys|may only be set|cannot both be specified|max_tokens|max_completion_tokens/i,
  },
  {
    reason: 'overloaded',
    wording:
      /overloaded|over capacity|high (?:demand|traffic|load)|at capacity|server is busy|queue_exceeded|service (?:is )?(?:temporarily )?unavailable|no (?:available|healthy) (?:server|upstream|workers?)|model_overloaded|engine_overloaded|capacity[_ ]exceeded|currently unavailable/i,
  },
  {
    reason: 'rate_limit',
    wording:
      /rate[-_ ]?limit|too many (?:requests|tokens, please wait)|requests? limit|resource_?exhausted|throttl|tokens per (?:minute|day)|requests per (?:minute|day)|速率|频率/i,
  },
];

type Judged = Pick<ProviderErrorDetails, 'reason' | 'values'>;

/** Why a provider refused, judged by the wording of its response and, without a known one, by the status. */
export function judgeFailure(status: number, facts: FailureFacts): Judged {
  const { text } = facts;
  if (isContextRefusal(status, text)) return { reason: 'context', values: {} };
  if (status === 402) return { reason: rules.find(fits)?.reason === 'quota' ? 'quota' : 'credit', values: {} };
  const rule = rules.find(fits);
  if (rule !== undefined && (status !== 401 || isAccount(rule.reason))) return judged(rule, facts);
  return judgeStatus(status, facts);

  function fits({ statuses, wording, also }: Rule): boolean {
    return (statuses?.(status) ?? true) && wording.test(text) && (also?.test(text) ?? true);
  }
}

function isContextRefusal(status: number, text: string): boolean {
  if (/request too large for model|reduce (?:your message size|the length of)/i.test(text)) return true;
  if (/request entity too large/i.test(text)) return false;
  return status !== 429 && status !== 401 && status !== 402 && isOverflow(text);
}

function isAccount(reason: ProviderReason): boolean {
  return reason === 'key' || reason === 'quota' || reason === 'credit';
}

function judged({ reason, problem }: Rule, facts: FailureFacts): Judged {
  const values: Judged['values'] = problem === undefined ? {} : { problem };
  if (reason === 'parameter' || reason === 'tools' || reason === 'images') {
    const parameter = facts.parameter ?? namedParameter(facts.text);
    if (parameter !== undefined) values.parameter = parameter;
  }
  if (reason === 'quota') {
    const retryAt = retryTimeIn(facts.text);
    if (retryAt !== undefined) values.retryAt = retryAt;
  }
  return { reason, values };
}

const byStatus: Readonly<Record<number, [ProviderReason, ProviderProblem?]>> = {
  401: ['key'],
  403: ['other', 'access'],
  404: ['other', 'address'],
  405: ['other', 'address'],
  408: ['other', 'timeout'],
  413: ['other', 'size'],
  429: ['rate_limit'],
  503: ['overloaded'],
  504: ['other', 'timeout'],
  529: ['overloaded'],
};

function judgeStatus(status: number, { parameter }: FailureFacts): Judged {
  const [reason, problem] = byStatus[status] ?? ['other', problemOf(status)];
  const isRefusedField = (status === 400 || status === 422) && parameter !== undefined;
  if (isRefusedField && /^model$/i.test(parameter)) return { reason: 'other', values: { problem: 'model' } };
  if (isRefusedField) return { reason: 'parameter', values: { parameter } };
  return { reason, values: problem === undefined ? {} : { problem } };
}

function problemOf(status: number): ProviderProblem | undefined {
  if (status >= 500) return 'internal';
  if (status >= 300 && status < 400) return 'redirect';
  return status === 400 || status === 422 ? 'refused' : undefined;
}
