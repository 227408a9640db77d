import type { Model } from '@homeport/contracts/catalogue/catalogue';
import { isSmallForTools, priceText, shortCount } from '../../catalogue/models/model-facts.ts';
import { numberLocale } from '../../i18n/format-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from './model-menu.module.css';

/** Badges of a model: provider, context window, abilities and prices per million tokens. */
export function ModelBadges({ model, providerName }: { model: Model; providerName: string }) {
  const t = useText();
  const { abilities, contextWindow, sources } = model;
  const prices = model.prices ?? model.estimatedPrices ?? null;
  const price = prices === null ? undefined : priceText(prices, numberLocale());
  const isKnown = sources.abilities !== undefined;
  const words = [
    t('facts.window', { count: shortCount(contextWindow) }),
    isKnown && abilities.images ? t('facts.images') : undefined,
    isKnown && abilities.documents ? t('facts.documents') : undefined,
    abilities.reasoning ? t('facts.reasoning') : undefined,
    abilities.tools ? undefined : t('facts.noTools'),
    price === undefined || model.prices !== null ? price : t('facts.about', { price }),
  ].filter((word) => word !== undefined);
  return (
    <span className={classes.badges}>
      <bdi className={classes.badge} data-kind="provider">
        {providerName}
      </bdi>{' '}
      {words.map((word) => (
        <span key={word} className={classes.badge}>
          {word}{' '}
        </span>
      ))}
      {isSmallForTools(model) ? (
        <span className={classes.badge} data-kind="warning" title={t('facts.smallWindow')}>
          {t('facts.tightForTools')}
        </span>
      ) : null}
    </span>
  );
}
