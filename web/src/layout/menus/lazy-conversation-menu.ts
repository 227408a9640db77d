import { lazyComponent } from '../lazy-component.tsx';

export const ConversationMenu = lazyComponent(async () => (await import('./conversation-menu.tsx')).ConversationMenu);
