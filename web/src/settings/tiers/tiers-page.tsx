import { useCatalogueOwner } from '../../catalogue/catalogue-api.ts';
import { CatalogueView } from '../../catalogue/catalogue-view.tsx';
import { useText } from '../../i18n/i18n.ts';
import { tierLabel } from '../../i18n/tier-label.ts';
import { Section } from '../../layout/section.tsx';
import { TierEditor } from './tier-editor.tsx';
import classes from './tiers.module.css';

/** `/settings/tiers` */
export function TiersPage() {
  const t = useText();
  const owner = useCatalogueOwner();
  return (
    <Section
      title={owner ? t('users.tiersOf', { name: owner.name }) : t('settings.tiers')}
      text={t(owner ? 'users.tiersText' : 'tiers.text')}
    >
      <CatalogueView>
        {(catalogue) =>
          catalogue.canEdit ? (
            <TierEditor catalogue={catalogue} />
          ) : (
            <ol className={classes.plain} aria-label={t('tiers.list')}>
              {catalogue.ownTiers.map((tier) => (
                <li key={tier.value}>{tierLabel(tier, t)}</li>
              ))}
            </ol>
          )
        }
      </CatalogueView>
    </Section>
  );
}
