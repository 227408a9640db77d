import '../forms/switch.css';
import type { ShippedSkill } from '@homeport/contracts/skills';
import { Switch } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { useClientSession } from '../conversation/client-session.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { useBranding } from '../layout/branding.ts';
import { Card } from '../layout/section.tsx';
import { showFailure } from '../layout/toasts.tsx';
import { hasSearchService, ownWebSearchQuery } from '../web-search/web-search-api.ts';
import classes from './skills.module.css';

/** The skills of the release, with the person's switch and, for administrators, the one for everyone. */
export function ShippedSkills({ skills }: { skills: readonly ShippedSkill[] }) {
  const t = useText();
  const { productName } = useBranding();
  return (
    <Card title={t('skills.shippedTitle', { product: productName })} text={t('skills.shippedText')}>
      <ul className={classes.list}>
        {skills.map((skill) => (
          <ShippedRow key={skill.name} skill={skill} />
        ))}
      </ul>
    </Card>
  );
}

function ShippedRow({
  skill: { name, description, text, needsWeb, enabled, enabledForEveryone },
}: {
  skill: ShippedSkill;
}) {
  const t = useText();
  const queries = useQueryClient();
  const { user } = useClientSession();
  const { data: web } = useQuery({ ...ownWebSearchQuery, enabled: needsWeb });
  const [isBusy, setBusy] = useState(false);
  const isAdmin = user.role === 'admin';
  const change = async (audience: 'me' | 'everyone', isOn: boolean) => {
    setBusy(true);
    try {
      await call('PATCH /api/skills/shipped', { body: { name, audience, enabled: isOn } });
    } catch (error) {
      showFailure(t('skills.changeFailed'), failureText(error, t));
    }
    await queries.invalidateQueries({ queryKey: ['skills'] });
    setBusy(false);
  };
  return (
    <li className={classes.row}>
      <div className={classes.about}>
        <p className={classes.name}>
          <code>/{name}</code>
          {enabledForEveryone ? null : <span className={classes.badge}>{t('skills.offForEveryone')}</span>}
        </p>
        <p className={classes.description}>{t('skills.shipped.research')}</p>
        {needsWeb && web && !hasSearchService(web.webSearch) ? (
          <p className={classes.facts}>{t('skills.needsWeb')}</p>
        ) : null}
      </div>
      <div className={classes.switches}>
        <Switch
          checked={enabled && enabledForEveryone}
          size="md"
          disabled={isBusy || !enabledForEveryone}
          label={isAdmin ? t('skills.onForMe') : undefined}
          aria-label={t('skills.on', { name })}
          onChange={(event) => void change('me', event.currentTarget.checked)}
        />
        {isAdmin ? (
          <Switch
            checked={enabledForEveryone}
            size="md"
            disabled={isBusy}
            label={t('skills.onForEveryone')}
            aria-label={t('skills.onForEveryoneNamed', { name })}
            onChange={(event) => void change('everyone', event.currentTarget.checked)}
          />
        ) : null}
      </div>
      <details className={classes.wholeText}>
        <summary>{t('skills.shippedRead', { name })}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled with the keyboard */}
        <section className={classes.content} tabIndex={0} aria-label={t('skills.shippedRead', { name })}>
          {`${description}\n\n${text}`}
        </section>
      </details>
    </li>
  );
}
