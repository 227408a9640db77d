import type { ChatDetail, Message, QueuedInput, SubmittedMessage } from '@homeport/contracts/chat/conversations';
import type { Frame } from '@homeport/contracts/chat/frames';
import { ApiFailure } from '../api/api-failure.ts';
import { wordFailure } from '../i18n/error-texts.ts';
import { type ConversationView, emptyView, type ResponseRef, shapeOf } from './conversation-view.ts';
import { LiveMessage } from './live-message.ts';
import { appendMessage, type Edit, mergeDetail, overlay, prependPage, promoteInput } from './message-list.ts';
import { backoff, wait } from './stream/backoff.ts';
import { followResponse, type StreamDeps, type StreamEnd } from './stream/response-stream.ts';

export type ConversationDeps = StreamDeps & {
  load: (chatId: string, options: { before?: string; signal?: AbortSignal }) => Promise<ChatDetail>;
  stop: (chatId: string, assistantId: string) => Promise<unknown>;
  /** A response began or ended: lists that show this conversation are out of date. */
  onActivity: (chatId: string) => void;
  /** Target of the `online` event: the browser window. */
  network: EventTarget | undefined;
};

/**
 * Milliseconds between two views of a streaming answer: half the work of one per frame, without a visible difference.
 */
const publishEvery = 50;
/** The same while more than `manyFrames` come between two of them: faster than anybody reads. */
const publishFastEvery = 125;
const manyFrames = 20;

/**
 * One conversation as this browser sees it: loads it, follows its running response while `follow()` holds, reconciles
 * with the server after every end. React reads it through `subscribe` and `getView`.
 */
export class ConversationStore {
  readonly chatId: string;
  readonly #deps: ConversationDeps;
  readonly #listeners = new Set<() => void>();
  #view: ConversationView = emptyView;
  #outline: ConversationView = emptyView;
  #liveShape = '';
  #live: LiveMessage | null = null;
  #next: ResponseRef | null = null;
  #after: string | undefined;
  #hasWaiting = false;
  /** The latest one of this tab. */
  #edit: Edit | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Frames since the last picture. */
  #arrived = 0;
  #isFast = false;
  #run: AbortController | null = null;
  #hurry = new EventTarget();

  constructor(chatId: string, deps: ConversationDeps) {
    this.chatId = chatId;
    this.#deps = deps;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  getView = (): ConversationView => this.#view;

  /** The view without updates for each piece of the streaming answer, whose message can be stale here. */
  getOutline = (): ConversationView => this.#outline;

  /** A message as it is now. */
  messageOf(id: string): Message | undefined {
    return this.#view.messages.findLast((message) => message.id === id);
  }

  /** Reloads the conversation and follows its running response. If already following, only cuts waits short. */
  follow(): void {
    if (this.#run) {
      this.#hurry.dispatchEvent(new Event('online'));
      return;
    }
    const run = new AbortController();
    this.#run = run;
    this.#loop(run.signal)
      .catch((error: unknown) => this.#fail(error, run))
      .finally(() => {
        if (this.#run === run) this.#run = null;
      });
  }

  /** Closes the stream; the response itself continues (control-plane-api.md "Saved-message acknowledgement" 6). */
  unfollow(): void {
    this.#run?.abort();
    this.#run = null;
    this.#change({ connection: 'idle' });
  }

  /** Starts over with what the server has, keeping a stream that still is right. */
  restart(): void {
    this.unfollow();
    this.follow();
  }

  /** Shows a message that the server has acknowledged. */
  addSubmitted(message: SubmittedMessage, parentId: string | null | undefined, at: string): void {
    const chatId = this.chatId;
    this.#edit = parentId === undefined ? undefined : { id: message.id, parentId };
    this.#change({
      messages: appendMessage(this.#view.messages, { chatId, message, parentId, at }),
      phase: 'ready',
      startFailure: undefined,
    });
  }

  addQueued(input: QueuedInput): void {
    const isWaiting = input.state === 'queued' || input.state === 'steering';
    if (!isWaiting || this.#view.inputs.some((known) => known.id === input.id)) return;
    this.#change({ inputs: [...this.#view.inputs, input] });
  }

  /** An input that was sent now goes before those that were not. */
  replaceQueued(input: QueuedInput): void {
    const others = this.#view.inputs.filter(({ id }) => id !== input.id);
    const first = others.filter(({ state }) => state === 'steering');
    this.#change({ inputs: [...first, input, ...others.filter(({ state }) => state !== 'steering')] });
  }

  removeQueued(inputId: string): void {
    this.#change({ inputs: this.#view.inputs.filter((input) => input.id !== inputId) });
  }

  /** A response was admitted: shows it as running before its first frame and follows it. */
  expectResponse(response: ResponseRef): void {
    const at = this.#view.messages.findIndex((message) => message.id === response.messageId);
    const messages = at === -1 ? this.#view.messages : this.#view.messages.slice(0, at + 1);
    this.#live = null;
    this.#after = undefined;
    this.#next = response;
    this.#change({
      messages,
      response,
      isStopping: false,
      providerWait: undefined,
      isSummarizing: false,
      summaryFailure: undefined,
      startFailure: undefined,
    });
    this.restart();
  }

  reportStartFailure(messageId: string, failure: ApiFailure): void {
    this.#change({ startFailure: { messageId, failure } });
  }

  /** Stops the running response: shown immediately, resolves when the server has confirmed. */
  async stop(): Promise<void> {
    const { response } = this.#view;
    if (!response) return;
    this.#change({ isStopping: true });
    try {
      await this.#deps.stop(this.chatId, response.assistantId);
      this.follow();
    } catch (error) {
      this.#change({ isStopping: false });
      throw error;
    }
  }

  /** `beforeShown` runs when the page is there, before anything on the screen changes. */
  async loadOlder(beforeShown?: () => void): Promise<void> {
    const before = this.#view.nextBefore;
    if (before === null) return;
    const page = await this.#deps.load(this.chatId, { before });
    if (this.#view.nextBefore !== before) return;
    beforeShown?.();
    this.#change({ messages: prependPage(page.messages, this.#view.messages), nextBefore: page.nextBefore });
  }

  async #loop(signal: AbortSignal): Promise<void> {
    for (let attempt = 0, hasYielded = false; ; ) {
      const known = !hasYielded && this.#takeNext();
      const isComplete = hasYielded || (known && this.#view.chat !== undefined);
      if (!isComplete && !(await this.#reconcile(signal))) {
        attempt += 1;
        await this.#pause(attempt, signal);
        continue;
      }
      const { response } = this.#view;
      if (!response && !this.#hasWaiting) return this.#change({ connection: 'idle' });
      let end = response ? await this.#followOnce(signal) : 'none';
      hasYielded = end === 'yielded';
      if (hasYielded) continue;
      if (end === 'broken' && this.#hasSentEnd()) end = 'done';
      attempt = end === 'done' ? 0 : attempt + 1;
      if (end === 'done') this.#deps.onActivity(this.chatId);
      else await this.#pause(end === 'none' ? Math.min(attempt, 3) : attempt, signal);
    }
  }

  /** One request of the stream; a connection that cannot be made counts as broken. */
  async #followOnce(signal: AbortSignal): Promise<StreamEnd> {
    const request = { chatId: this.chatId, after: this.#after, signal };
    try {
      return await followResponse(this.#deps, request, (frame, sequence) => this.#frame(frame, sequence));
    } catch (error) {
      if (isFinal(error, signal)) throw error;
      return 'broken';
    }
  }

  /** True for a stream that broke off after the end of its answer, as from a stopping server: nothing runs any more. */
  #hasSentEnd(): boolean {
    if (!this.#live || this.#live.view().status === 'streaming') return false;
    this.#flushLive();
    this.#after = undefined;
    this.#change({ response: null, isStopping: false });
    return true;
  }

  /** Loads the server's state; false if that failed. */
  async #reconcile(signal: AbortSignal): Promise<boolean> {
    try {
      const detail = await this.#deps.load(this.chatId, { signal });
      signal.throwIfAborted();
      this.#adopt(detail);
      return true;
    } catch (error) {
      if (isFinal(error, signal)) throw error;
      if (this.#view.phase !== 'ready') throw error;
      return false;
    }
  }

  #adopt(detail: ChatDetail): void {
    const running = detail.response?.assistantId;
    const before = this.#view.response?.assistantId;
    const hasEndedUnseen = before !== undefined && before !== running && before !== this.#live?.id;
    if (this.#live && this.#live.id !== running) this.#live = null;
    if (!this.#live) this.#after = undefined;
    const merged = mergeDetail(this.#view, detail, this.#edit);
    this.#hasWaiting = detail.inputs.length > 0;
    const { chat } = this.#view;
    if (hasEndedUnseen || (chat && chat.title !== detail.chat.title)) this.#deps.onActivity(this.chatId);
    const isStopping = this.#view.isStopping && running !== undefined && running === before;
    const startFailure = detail.response ? undefined : this.#view.startFailure;
    this.#change({
      ...merged,
      providerWait: running === before ? this.#view.providerWait : undefined,
      isSummarizing: running === before && this.#view.isSummarizing,
      summaries: detail.summaries,
      plan: detail.plan,
      phase: 'ready',
      failure: undefined,
      chat: detail.chat,
      response: detail.response,
      isStopping,
      startFailure,
    });
  }

  #frame(frame: Frame, sequence: string | undefined): void {
    this.#after = sequence ?? this.#after;
    if (frame.type === 'data-next') {
      this.#next = frame.data;
      return;
    }
    if (frame.type === 'data-retry') {
      this.#change({ providerWait: frame.data, connection: 'following' });
      return;
    }
    if (frame.type === 'data-step') {
      this.#change({ isSummarizing: frame.data.state === 'started', connection: 'following' });
      return;
    }
    if (this.#view.providerWait) this.#change({ providerWait: undefined });
    if (this.#view.response?.kind === 'compaction') {
      const failure = frame.type === 'error' ? { summaryFailure: wordFailure(failureOf(frame)) } : {};
      this.#change({ connection: 'following', ...failure });
      return;
    }
    if (frame.type === 'start' || !this.#live) this.#begin(frame);
    this.#live?.apply(frame);
    this.#arrived += 1;
    if (this.#view.connection !== 'following') this.#change({ connection: 'following' });
    else this.#timer ??= setTimeout(() => this.#change({}), this.#isFast ? publishFastEvery : publishEvery);
  }

  #begin(frame: Frame): void {
    const id = (frame.type === 'start' ? frame.messageId : undefined) ?? this.#view.response?.assistantId;
    if (id === undefined) return;
    const known = this.#view.messages.find((message) => message.id === id);
    const parentId = known?.parentId ?? this.#view.response?.messageId ?? null;
    const siblingIds = known?.siblingIds ?? [id];
    const createdAt = known?.createdAt ?? new Date().toISOString();
    const identity = { id, chatId: this.chatId, parentId, siblingIds, createdAt };
    this.#live = new LiveMessage(identity, known?.parts ?? []);
    this.#deps.onActivity(this.chatId);
  }

  /** After `data-next` the promoted input becomes a message and its response is followed without asking first. False when
   *  there is none, or when the input was sent elsewhere and is unknown here: then the server has to be asked. */
  #takeNext(): boolean {
    const next = this.#next;
    if (!next) return false;
    this.#next = null;
    this.#flushLive();
    const { messages, inputs } = promoteInput(this.#view, next.messageId, this.chatId);
    this.#after = undefined;
    this.#change({
      messages,
      inputs,
      response: next,
      isStopping: false,
      providerWait: undefined,
      isSummarizing: false,
    });
    // The server possibly merged several inputs into messages together, so ask it.
    return (
      messages.some((message) => message.id === next.messageId) && !inputs.some(({ state }) => state === 'steering')
    );
  }

  #flushLive(): void {
    if (this.#live) this.#change({ messages: overlay(this.#view.messages, this.#live.view()) });
    this.#live = null;
  }

  async #pause(attempt: number, signal: AbortSignal): Promise<void> {
    if (attempt > 1) this.#change({ connection: 'reconnecting' });
    await wait(backoff(attempt - 1), signal, this.#deps.network, this.#hurry);
  }

  #fail(error: unknown, run: AbortController): void {
    if (run.signal.aborted) return;
    const failure = error instanceof ApiFailure ? error : new ApiFailure('unreadable', '', { cause: error });
    this.#change({
      connection: 'idle',
      failure,
      phase: this.#view.phase === 'ready' && failure.code !== 'not_found' ? 'ready' : 'failed',
    });
  }

  #change(change: Partial<ConversationView>): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isFast = this.#arrived > manyFrames;
    this.#arrived = 0;
    const view = { ...this.#view, ...change };
    const live = this.#live?.isBehind() ? undefined : this.#live?.view();
    this.#view = live ? { ...view, messages: overlay(view.messages, live) } : view;
    const shape = live ? shapeOf(live) : '';
    if (shape !== this.#liveShape || Object.keys(change).length > 0) this.#outline = this.#view;
    this.#liveShape = shape;
    for (const listener of this.#listeners) listener();
  }
}

function failureOf({ code = 'provider_error', errorText, details }: Extract<Frame, { type: 'error' }>) {
  return { code, message: errorText, details };
}

/** Refusals that waiting does not change: the conversation is gone, or the session is. */
function isFinal(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted) return true;
  return error instanceof ApiFailure && error.isRefusal && error.code !== 'rate_limited';
}
