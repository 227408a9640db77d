import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { spanDays } from '../../usage/usage-days.ts';
import { myUsageQuery } from '../../usage/usage-queries.ts';

const BudgetNotice = lazyComponent(async () => (await import('../../usage/budget-notice.tsx')).BudgetNotice);
const nearPercent = 80;

/** The notice about a budget, refetched after each answer. */
export function BudgetLine({ isRunning }: { isRunning: boolean }) {
  const { to } = spanDays('month', new Date());
  const { data, refetch } = useQuery({ ...myUsageQuery({ from: to, to, by: 'day' }), staleTime: 60_000 });
  useEffect(() => {
    // One that is on its way will do.
    if (!isRunning) void refetch({ cancelRefetch: false });
  }, [isRunning, refetch]);
  const [budget] = data?.budgets ?? [];
  return budget === undefined || budget.percent < nearPercent ? null : <BudgetNotice budget={budget} />;
}
