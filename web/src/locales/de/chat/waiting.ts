import type { texts as english } from '../../en/chat/waiting.ts';

export const texts: Record<keyof typeof english, string> = {
  'thread.waitLimited': 'Der Anbieter begrenzt die Anfragen.',
  'thread.waitLoading': 'Das Modell wird noch geladen.',
  'thread.waitUnavailable': 'Der Anbieter antwortet nicht.',
  'thread.waitRetry': 'Neuer Versuch in {seconds} s.',
  'thread.waitFirst':
    'Das Modell hat noch nicht geantwortet. Lange Unterhaltungen und Modelle auf dem eigenen Rechner können Minuten brauchen.',
  'thread.waitLeft': 'Noch höchstens {seconds} s.',
};
