import 'virtual:texts/rules';
import '../forms/forms.css';
import type { ToolPreset, ToolRule, ToolRules } from '@homeport/contracts/chat/tool-rules';
import { limits } from '@homeport/contracts/limits';
import { workspaceTools } from '@homeport/contracts/workspace/workspace-tools';
import { ActionIcon, Button, TextInput } from '@mantine/core';
import { Plus, X } from 'lucide-react';
import { useId } from 'react';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import { SmallSelect } from '../forms/small-select.tsx';
import { useText } from '../i18n/i18n.ts';
import classes from './rules.module.css';

const presets = ['ask', 'auto', 'read-only'] as const;
const policies = ['allow', 'ask', 'deny'] as const;

function rulesLength(rules: readonly ToolRule[]): number {
  return rules.reduce((sum, { tool, pattern = '' }) => sum + tool.length + pattern.length, 0);
}

/** Rules to send: patterns are trimmed and empty ones dropped. */
export function givenRules({ preset, rules }: ToolRules): ToolRules {
  return {
    preset,
    rules: rules.map(({ tool, pattern = '', policy }) =>
      tool === 'bash' && pattern.trim() !== '' ? { tool, pattern: pattern.trim(), policy } : { tool, policy },
    ),
  };
}

export function PresetChoice({
  legend,
  value,
  onChange,
  mine,
}: {
  legend: string;
  value: ToolPreset | undefined;
  onChange: (preset: ToolPreset | undefined) => void;
  /** The name of having none of its own. */
  mine?: string;
}) {
  const t = useText();
  const options = presets.map((preset) => ({ value: preset as string, label: t(`rules.preset.${preset}`) }));
  return (
    <ChoiceChips
      legend={legend}
      options={mine === undefined ? options : [{ value: '', label: mine }, ...options]}
      value={value ?? ''}
      onChange={(given) => onChange(presets.find((preset) => preset === given))}
      hint={value === undefined ? undefined : t(`rules.hint.${value}`)}
    />
  );
}

/** The rules one by one. */
export function RuleList({ rules, onChange }: { rules: readonly ToolRule[]; onChange: (rules: ToolRule[]) => void }) {
  const t = useText();
  const titleId = useId();
  const put = (index: number, rule: ToolRule) => onChange(rules.map((each, at) => (at === index ? rule : each)));
  const isFull = rules.length >= limits.toolRulesMax;
  return (
    <section className={classes.rules} aria-labelledby={titleId}>
      <h3 className={classes.legend} id={titleId}>
        {t('rules.list')}
      </h3>
      <p className={classes.hint}>{t('rules.listHint')}</p>
      {rules.length === 0 ? <p className={classes.hint}>{t('rules.none')}</p> : null}
      <ul className={classes.list}>
        {rules.map((rule, index) => (
          <li key={index} className={classes.rule}>
            <RuleFields rule={rule} number={index + 1} onChange={(changed) => put(index, changed)} />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('rules.remove', { number: index + 1 })}
              onClick={() => onChange(rules.filter((_, at) => at !== index))}
            >
              <X size={16} aria-hidden />
            </ActionIcon>
          </li>
        ))}
      </ul>
      {isFull ? <p className={classes.hint}>{t('rules.full')}</p> : null}
      {rulesLength(rules) > limits.toolRulesTextMax ? (
        <p role="alert" className={classes.fault}>
          {t('rules.long')}
        </p>
      ) : null}
      <div>
        <Button
          size="xs"
          variant="default"
          disabled={isFull}
          leftSection={<Plus size={15} aria-hidden />}
          onClick={() => onChange([...rules, { tool: 'bash', pattern: '', policy: 'ask' }])}
        >
          {t('rules.add')}
        </Button>
      </div>
    </section>
  );
}

function RuleFields({
  rule,
  number,
  onChange,
}: {
  rule: ToolRule;
  number: number;
  onChange: (rule: ToolRule) => void;
}) {
  const t = useText();
  const names = [...new Set([...workspaceTools, rule.tool])];
  return (
    <>
      <SmallSelect
        label={t('rules.policyOf', { number })}
        value={rule.policy}
        options={policies.map((policy) => ({ value: policy, label: t(`rules.policy.${policy}`) }))}
        onChange={(given) => onChange({ ...rule, policy: policies.find((policy) => policy === given) ?? rule.policy })}
      />
      <SmallSelect
        label={t('rules.toolOf', { number })}
        value={rule.tool}
        options={names.map((name) => ({ value: name, label: name === 'bash' ? t('rules.bash') : name }))}
        onChange={(tool) => onChange({ tool, policy: rule.policy })}
      />
      {rule.tool === 'bash' ? (
        <TextInput
          size="xs"
          className={classes.pattern}
          aria-label={t('rules.patternOf', { number })}
          placeholder={t('rules.everyCommand')}
          value={rule.pattern ?? ''}
          maxLength={limits.toolPatternMax}
          onChange={(event) => onChange({ ...rule, pattern: event.currentTarget.value })}
        />
      ) : null}
    </>
  );
}
