import type { ListedModel } from '@homeport/contracts/model-facts';
import { i18n, useText } from '../i18n.ts';
import classes from './model-chooser.module.css';
import { priceText, shortCount } from './model-facts.ts';

/** What is known about a model, briefly: its window, its abilities, and the price of a million tokens. */
export function ModelFactsLine({ facts }: { facts: Partial<ListedModel> }) {
  const t = useText();
  const { contextWindow, abilities, prices, endOfLife, sources } = facts;
  const isKnown = sources?.abilities !== undefined;
  const words = [
    contextWindow === undefined ? undefined : t('facts.window', { count: shortCount(contextWindow) }),
    isKnown && abilities?.images ? t('facts.images') : undefined,
    isKnown && abilities?.documents ? t('facts.documents') : undefined,
    isKnown && abilities?.reasoning ? t('facts.reasoning') : undefined,
    isKnown && abilities?.tools === false ? t('facts.noTools') : undefined,
    prices === undefined ? undefined : priceText(prices, i18n.locale),
    endOfLife === undefined ? undefined : t('facts.endOfLife', { day: endOfLife }),
  ].filter((word) => word !== undefined);
  return words.length === 0 ? null : <span className={classes.facts}>{words.join(' · ')}</span>;
}
