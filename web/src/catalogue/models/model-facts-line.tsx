import 'virtual:texts/catalogue';
import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { numberLocale } from '../../i18n/format-locale.ts';
import { type Translate, useText } from '../../i18n/i18n.ts';
import classes from './model-chooser.module.css';
import { priceText, shortCount } from './model-facts.ts';

/** One line of facts on a model: context window, abilities and prices per million tokens. */
export function ModelFactsLine({ facts }: { facts: Partial<ListedModel> }) {
  const t = useText();
  const { abilities, prices, endOfLife, sources } = facts;
  const isKnown = sources?.abilities !== undefined;
  const words = [
    windowText(facts, t),
    isKnown && abilities?.images ? t('facts.images') : undefined,
    isKnown && abilities?.documents ? t('facts.documents') : undefined,
    isKnown && abilities?.reasoning ? t('facts.reasoning') : undefined,
    isKnown && abilities?.tools === false ? t('facts.noTools') : undefined,
    prices === undefined ? undefined : priceText(prices, numberLocale()),
    endOfLife === undefined ? undefined : t('facts.endOfLife', { day: endOfLife }),
  ].filter((word) => word !== undefined);
  return words.length === 0 ? null : <span className={classes.facts}>{words.join(' ·\u00a0')}</span>;
}

/** The part of the context window that a local server has loaded, if it reports it. */
function windowText(
  { contextWindow, possibleWindow, isLoaded }: Partial<ListedModel>,
  t: Translate,
): string | undefined {
  if (contextWindow === undefined) return undefined;
  const count = shortCount(contextWindow);
  if (possibleWindow !== undefined) return t('facts.loadedOf', { count, possible: shortCount(possibleWindow) });
  const size = t('facts.window', { count });
  return isLoaded === false ? `${size} (${t('facts.notLoaded')})` : size;
}
