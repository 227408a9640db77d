import { lazyRouteComponent } from '@tanstack/react-router';

/** A conversation with its thread: the largest part of the client, which the start page does not need to appear. */
export const ConversationPage = lazyRouteComponent(() => import('./conversation-page.tsx'), 'ConversationPage');

// An address of a conversation needs the page at once: it loads while the client asks for the session.
if (location.pathname.startsWith('/c/')) preloadConversationPage();

/** Loads the page before its first use; a failed attempt is repeated when the page is opened. */
export function preloadConversationPage(): void {
  void ConversationPage.preload?.();
}
