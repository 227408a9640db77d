import type { Translate } from './i18n.ts';

/** Title that the server gives to a conversation without one. */
const untitled = 'New conversation';

/** The title of a conversation as people read it; one without a title is named in their language. */
export function titleText(title: string | undefined, t: Translate): string {
  return title && title !== untitled ? title : t('nav.untitled');
}
