import 'virtual:texts/instructions';
import 'virtual:texts/pages';
import '../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { Button, Textarea } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import classes from './instructions.module.css';
import { type UnknownVariable, unknownVariables, variableNames, variableText } from './variables.ts';

/** Remaining characters from which on the count is shown. */
const nearLimit = 1_000;

type Props = {
  label: string;
  hint?: ReactNode;
  value: string;
  onChange: (value: string) => void;
  error?: ReactNode;
  placeholder?: string;
  isFocused?: boolean;
};

/** Text field for instructions, with the list of supported variables. */
export function InstructionsField({ label, hint, value, onChange, error, placeholder, isFocused = false }: Props) {
  const t = useText();
  const field = useRef<HTMLTextAreaElement>(null);
  const caret = useRef<number>(undefined);
  useEffect(() => {
    if (caret.current === undefined) return;
    field.current?.setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  }, [value]);
  const insert = (text: string) => {
    const element = field.current;
    if (!element) return;
    const { selectionStart, selectionEnd } = element;
    caret.current = selectionStart + text.length;
    element.focus();
    onChange(value.slice(0, selectionStart) + text + value.slice(selectionEnd));
  };
  const left = limits.instructionsMax - value.length;
  return (
    <div className={classes.box}>
      <Textarea
        ref={field}
        className={classes.field}
        label={label}
        description={hint}
        error={error}
        value={value}
        placeholder={placeholder}
        onChange={(event) => onChange(event.currentTarget.value)}
        data-autofocus={isFocused || undefined}
      />
      <div className={classes.foot}>
        <details className={classes.variables}>
          <summary>{t('instructions.variables')}</summary>
          <dl className={classes.list}>
            {variableNames.map((name) => (
              <div key={name}>
                <dt>
                  <button type="button" className={classes.variable} onClick={() => insert(variableText(name))}>
                    {variableText(name)}
                  </button>
                </dt>
                <dd>{t(`instructions.variable.${name}`)}</dd>
              </div>
            ))}
          </dl>
        </details>
        <p role="status" className={classes.count} data-over={left < 0 || undefined}>
          {left < nearLimit ? t(left < 0 ? 'instructions.over' : 'instructions.left', { count: Math.abs(left) }) : null}
        </p>
      </div>
      <UnknownNotice
        unknown={unknownVariables(value)}
        onReplace={(text, by) => {
          onChange(value.replaceAll(text, by));
          field.current?.focus();
        }}
      />
    </div>
  );
}

/** Instructions to read only. */
export function ShownInstructions({ text }: { text: string }) {
  return <p className={classes.shown}>{text}</p>;
}

/** How many unknown variables are named. */
const mostNamed = 5;

function UnknownNotice({
  unknown,
  onReplace,
}: {
  unknown: readonly UnknownVariable[];
  onReplace: (text: string, by: string) => void;
}) {
  const t = useText();
  const hidden = unknown.length - mostNamed;
  return (
    <div role="status">
      {unknown.length > 0 ? (
        <Notice kind="warning" title={t('instructions.unknownTitle', { count: unknown.length })}>
          <ul className={classes.unknown}>
            {unknown.slice(0, mostNamed).map(({ text, meant }) => (
              <li key={text}>
                <code>{text}</code>
                {meant ? (
                  <Button size="compact-xs" variant="default" onClick={() => onReplace(text, variableText(meant))}>
                    {t('instructions.useVariable', { variable: variableText(meant) })}
                  </Button>
                ) : (
                  <span>{t('instructions.unknownText')}</span>
                )}
              </li>
            ))}
            {hidden > 0 ? <li>{t('instructions.unknownMore', { count: hidden })}</li> : null}
          </ul>
        </Notice>
      ) : null}
    </div>
  );
}
