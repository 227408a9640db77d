import type { ErrorCode } from '@homeport/contracts/errors';
import type { Actor, RecordKind } from './authorization-world.ts';

/** How an endpoint is called validly, and what each id in the call names. */

export type SampleRequest = {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  form?: Record<string, string>;
  /** The form's file, if not any text. */
  file?: string;
  headers?: Record<string, string>;
  /** A body that is one file. */
  upload?: string;
};

export type IdRule =
  /**
   * Names a record of this kind: an id of another caller answers 404, or `unknown` where it only filters. `openTo`:
   * this kind of caller can use the record of any creator. `anywhere`: no other id of the request limits where it is.
   * `uses`: the request does not change the record, so one that is shared with the caller is accepted.
   */
  | {
      names: RecordKind;
      anywhere?: true;
      uses?: true;
      unknown?: 200;
      openTo?: Actor['kind'];
      request?: (own: Actor) => SampleRequest;
    }
  /** Names an account or a record for everyone: any that exists is accepted. */
  | { names: 'person' | 'offer'; request?: (own: Actor) => SampleRequest }
  /** Made by the client: one in use by another user is a conflict. */
  | { names: 'new'; taken: ErrorCode; takenBy: RecordKind }
  /** Ends in Id and names nothing of ours. */
  | { names: 'text' }
  /** Names accounts, for some callers in one edition only: a test of its own shows it. */
  | { names: 'shown elsewhere'; test: `${string}.test.ts` };

export type Sample = {
  request(own: Actor): SampleRequest;
  /** Status about one's own records. */
  own: number;
  /** Other statuses of public endpoints by kind of caller. */
  others?: Partial<Record<Actor['kind'], number>>;
  ids: Record<string, IdRule>;
  /** Kinds of callers that may send the request, but not with an id in it. */
  withIds?: Partial<Record<Actor['kind'], ErrorCode>>;
};

export const nothing = { request: () => ({}), own: 200, ids: {} } satisfies Sample;
export const modelFields = { displayName: 'Model', contextWindow: 8000, maxOutputTokens: 1000, tier: 1 };
export const sharedByName = {
  'body.sharedWith.userIds.*': { names: 'shown elsewhere', test: 'shared-providers.test.ts' },
} satisfies Sample['ids'];
