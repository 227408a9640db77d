import { useText } from '../../i18n/i18n.ts';
import { ConfigSection } from '../config-section.tsx';
import { BrandingForm } from './branding-form.tsx';

/** `/settings/admin/branding` */
export function BrandingPage() {
  const t = useText();
  return (
    <ConfigSection title={t('settings.branding')} text={t('branding.text')}>
      {({ branding }) => <BrandingForm stored={branding} />}
    </ConfigSection>
  );
}
