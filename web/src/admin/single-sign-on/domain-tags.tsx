import '../../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { TextInput } from '@mantine/core';
import { X } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import classes from '../admin.module.css';
import { readDomains } from './single-sign-on-values.ts';

/** Domains as tags: typed with Enter or a comma, or pasted as a list. */
export function DomainTags({
  value,
  error,
  onChange,
}: {
  value: readonly string[];
  error?: ReactNode;
  onChange: (domains: string[]) => void;
}) {
  const t = useText();
  const [text, setText] = useState('');
  const [fault, setFault] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const add = (typed: string) => {
    const { domains, bad } = readDomains(typed);
    const next = [...new Set([...value, ...domains])];
    if (next.length > limits.allowedDomainsMax)
      return setFault(t('sso.domainsFull', { max: limits.allowedDomainsMax }));
    if (domains.length > 0) onChange(next);
    setText(bad.join(' '));
    setFault(bad.length > 0 ? t('sso.domainBad', { text: bad.join(', ') }) : '');
  };
  const remove = (domain: string) => {
    onChange(value.filter((each) => each !== domain));
    input.current?.focus();
  };
  const shown = fault || error;
  return (
    <div>
      <TextInput
        ref={input}
        label={t('sso.domains')}
        description={t('sso.domainsHint')}
        error={shown}
        aria-invalid={Boolean(shown)}
        value={text}
        placeholder="example.org"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        onChange={(event) => {
          const next = event.currentTarget.value;
          setFault('');
          if (/[\s,;]/.test(next.trim()) || /[,;\s]$/.test(next)) add(next);
          else setText(next);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && text.trim() !== '') {
            event.preventDefault();
            add(text);
          }
          if (event.key === 'Backspace' && text === '') {
            const last = value.at(-1);
            if (last !== undefined) remove(last);
          }
        }}
        onBlur={() => text.trim() !== '' && add(text)}
      />
      {value.length > 0 ? (
        <ul className={classes.tags} aria-label={t('sso.domains')}>
          {value.map((domain) => (
            <li key={domain} className={classes.tag}>
              {domain}
              <button type="button" aria-label={t('sso.domainRemove', { domain })} onClick={() => remove(domain)}>
                <X size={14} aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
