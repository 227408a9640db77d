import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FakeProvider, FakeRequest } from './provider.ts';

/**
 * Answers another process's requests to the fake provider: `GET /requests` (chat requests so far), `GET /sent?index=`
 * (the bytes of one answer), `GET /seals` (returned parts of signed reasoning), `POST /release`. Returns false for
 * every other request.
 */
export function answerControl(provider: FakeProvider, request: IncomingMessage, response: ServerResponse): boolean {
  const url = new URL(request.url ?? '', 'http://provider');
  const chats = provider.requests.filter(({ path }) => !/\/models(\?|$)/.test(path));
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /requests':
      send(response, JSON.stringify(chats.map(view)));
      return true;
    case 'GET /sent':
      send(response, chats[Number(url.searchParams.get('index'))]?.sent() ?? '');
      return true;
    case 'GET /seals':
      send(response, JSON.stringify(provider.seals));
      return true;
    case 'POST /release':
      provider.release();
      send(response, '{}');
      return true;
    default:
      return false;
  }
}

function view(request: FakeRequest) {
  const content = request.body.messages?.at(-1)?.content;
  const first = request.body.messages?.[0];
  return {
    kind: request.kind,
    model: request.body.model,
    system: first?.role === 'system' ? first.content : undefined,
    reasoningEffort: request.body.reasoning_effort,
    lastText: typeof content === 'string' ? content : JSON.stringify(content ?? ''),
    aborted: request.aborted,
    closed: request.closedAt !== undefined,
  };
}

function send(response: ServerResponse, text: string): void {
  response.setHeader('content-type', 'application/json');
  response.end(text);
}
