import 'virtual:texts/instructions';
import { useText } from '../i18n/i18n.ts';
import { ConfigSection } from './config-section.tsx';
import { InstructionsForm } from './instructions-form.tsx';

/** `/settings/admin/instructions` */
export function InstructionsPage() {
  const t = useText();
  return (
    <ConfigSection title={t('settings.instructions')} text={t('adminInstructions.text')}>
      {(stored) => <InstructionsForm stored={stored} />}
    </ConfigSection>
  );
}
