import { MessagePage } from '../frame/message-page.tsx';
import { useText } from '../i18n.ts';

export function SetupPage() {
  const t = useText();
  return <MessagePage title={t('pages.setup')} />;
}
