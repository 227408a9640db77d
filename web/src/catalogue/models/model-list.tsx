import '../../forms/forms.css';
import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { TextInput } from '@mantine/core';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import classes from './model-chooser.module.css';
import { ModelFactsLine } from './model-facts-line.tsx';

type ShownModel = Pick<ListedModel, 'id'> & Partial<ListedModel>;

const searched = ({ id, displayName = '' }: ShownModel): string => `${id} ${displayName}`.toLowerCase();

/** How many rows are shown at once; longer lists are narrowed by searching. */
const shownAtMost = 200;

/** A long list of model ids to tick, with a search over it. */
export function ModelList({
  name,
  models,
  otherCount,
  existing,
  chosen,
  onToggle,
  isEmptyFine,
}: {
  name: string;
  models: readonly ShownModel[];
  /** How many more the provider lists that are useless in a conversation. */
  otherCount: number;
  existing: ReadonlySet<string>;
  chosen: readonly string[];
  onToggle: (id: string) => void;
  isEmptyFine: boolean;
}) {
  const t = useText();
  const [query, setQuery] = useState('');
  const words = query.toLowerCase().split(/\s+/);
  const hits = models.filter((model) => words.every((word) => searched(model).includes(word)));
  const hidden = hits.length - shownAtMost;
  if (models.length === 0) return isEmptyFine ? null : <p className={classes.none}>{t('choose.empty')}</p>;
  return (
    <fieldset className={classes.list}>
      <legend className="visually-hidden">{t('choose.list', { provider: name })}</legend>
      <div className={classes.tools}>
        <TextInput
          type="search"
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
          aria-label={t('choose.search')}
          placeholder={t('choose.search')}
          leftSection={<Search size={15} aria-hidden />}
          className={classes.search}
        />
        <span role="status" className={classes.selected}>
          {t('choose.selected', { count: chosen.length })}
        </span>
      </div>
      <div className={classes.rows}>
        {hits.slice(0, shownAtMost).map(({ id, ...facts }) => (
          <label key={id} className={classes.row}>
            <input
              type="checkbox"
              checked={chosen.includes(id) || existing.has(id)}
              disabled={existing.has(id)}
              onChange={() => onToggle(id)}
            />
            <span className={classes.id}>{id}</span>
            <ModelFactsLine facts={facts} />
            {existing.has(id) ? <span className={classes.mark}>{t('choose.added')}</span> : null}
          </label>
        ))}
        {hits.length === 0 ? <p className={classes.none}>{t('choose.noHits', { query: query.trim() })}</p> : null}
        {otherCount > 0 ? <p className={classes.none}>{t('choose.others', { count: otherCount })}</p> : null}
        {hidden > 0 ? <p className={classes.none}>{t('choose.more', { count: hidden })}</p> : null}
      </div>
    </fieldset>
  );
}
