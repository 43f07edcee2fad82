//! How fast tasks that wait for each other can be done: the critical path, what no
//! number of CPUs beats, and a schedule.
//!
//! A task keeps one CPU from its start to its end. Where tasks wait for something
//! else than a CPU, more of them go at a time, and only the critical path is a bound.

/// Something to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// How long it takes, ns; not negative.
    pub ns: i64,
    /// The tasks that must have ended before, by their places.
    pub waits: Vec<usize>,
    /// Nothing runs beside it.
    pub alone: bool,
}

/// A task's place in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The task.
    pub task: usize,
    /// When it starts, ns.
    pub start_ns: i64,
    /// When it ends, ns.
    pub end_ns: i64,
}

/// What can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The tasks in order of their urgency: each after all that it waits for, those
    /// with the longest way to the end first.
    pub order: Vec<usize>,
    /// The longest chain of tasks that wait for each other.
    pub critical: Vec<usize>,
    /// How long that takes, ns.
    pub critical_ns: i64,
    /// One after the other, ns.
    pub work_ns: i64,
    /// No schedule is shorter, ns: the larger one of the critical path, and the work
    /// over the CPUs.
    pub bound_ns: i64,
    /// A schedule.
    pub slots: Vec<Slot>,
    /// How long it takes, ns.
    pub found_ns: i64,
    /// Whether it is known that no other one is shorter.
    pub is_best: bool,
}

/// Up to so many tasks and steps a better schedule is searched for; beyond, the bound
/// must do.
const SMALL: usize = 40;
const STEPS: usize = 200_000;

/// The best schedule on `cpus` CPUs that can be found. `None` if tasks wait for each
/// other in a circle, or for one that is not there.
pub fn schedule(tasks: &[Task], cpus: usize) -> Option<Schedule> {
    let cpus = cpus.clamp(1, tasks.len().max(1));
    let tails = tails(tasks)?;
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    let depth = depths(tasks, &tails.sequence);
    // By depth where tasks take no time.
    order.sort_by_key(|at| (std::cmp::Reverse(tails.ns[*at]), depth[*at], *at));
    let work_ns = tasks.iter().fold(0, |sum: i64, t| sum.saturating_add(t.ns));
    let critical = critical(tasks, &tails.ns);
    let critical_ns = tails.ns.iter().copied().max().unwrap_or(0);
    let alone_ns = tasks.iter().filter(|t| t.alone);
    let alone_ns = alone_ns.fold(0, |sum: i64, t| sum.saturating_add(t.ns));
    let shared_ns = divided(work_ns.saturating_sub(alone_ns), cpus);
    let bound_ns = critical_ns.max(alone_ns.saturating_add(shared_ns));
    let mut search = Search {
        tasks,
        tails: &tails.ns,
        order: &order,
        best: in_order(tasks, &order, cpus),
        steps: 0,
        bound_ns,
    };
    let small = tasks.len() <= SMALL;
    if small {
        search.run(cpus);
    }
    let (slots, steps) = (search.best, search.steps);
    let found_ns = length(&slots);
    Some(Schedule {
        critical,
        critical_ns,
        work_ns,
        bound_ns,
        found_ns,
        is_best: found_ns <= bound_ns || (small && steps < STEPS),
        slots,
        order,
    })
}

fn divided(ns: i64, by: usize) -> i64 {
    let by = i64::try_from(by).unwrap_or(i64::MAX);
    ns / by + i64::from(ns % by != 0)
}

fn length(slots: &[Slot]) -> i64 {
    slots.iter().map(|slot| slot.end_ns).max().unwrap_or(0)
}

struct Tails {
    /// From the start of each task to the end of all.
    ns: Vec<i64>,
    /// Each task after those that it waits for.
    sequence: Vec<usize>,
}

fn tails(tasks: &[Task]) -> Option<Tails> {
    let mut followers = vec![Vec::new(); tasks.len()];
    let mut left: Vec<usize> = tasks.iter().map(|task| task.waits.len()).collect();
    for (at, task) in tasks.iter().enumerate() {
        for on in &task.waits {
            followers.get_mut(*on)?.push(at);
        }
    }
    let mut sequence: Vec<usize> = (0..tasks.len()).filter(|at| left[*at] == 0).collect();
    let mut next = 0;
    while let Some(at) = sequence.get(next).copied() {
        next += 1;
        for follower in &followers[at] {
            left[*follower] -= 1;
            if left[*follower] == 0 {
                sequence.push(*follower);
            }
        }
    }
    if sequence.len() < tasks.len() {
        return None;
    }
    let mut ns = vec![0_i64; tasks.len()];
    for at in sequence.iter().rev() {
        let behind = followers[*at].iter().map(|f| ns[*f]).max().unwrap_or(0);
        ns[*at] = tasks[*at].ns.max(0).saturating_add(behind);
    }
    Some(Tails { ns, sequence })
}

fn depths(tasks: &[Task], sequence: &[usize]) -> Vec<usize> {
    let mut depth = vec![0; tasks.len()];
    for at in sequence {
        let waits = tasks[*at].waits.iter().map(|on| depth[*on] + 1);
        depth[*at] = waits.max().unwrap_or(0);
    }
    depth
}

/// The chain with the longest tail.
fn critical(tasks: &[Task], tails: &[i64]) -> Vec<usize> {
    let longest = |of: &mut dyn Iterator<Item = usize>| {
        of.max_by_key(|at| (tails[*at], std::cmp::Reverse(*at)))
    };
    let mut first = (0..tasks.len()).filter(|at| tasks[*at].waits.is_empty());
    let mut chain: Vec<usize> = Vec::new();
    let mut next = longest(&mut first);
    while let Some(at) = next {
        chain.push(at);
        let mut followers = (0..tasks.len()).filter(|f| tasks[*f].waits.contains(&at));
        next = longest(&mut followers);
    }
    chain
}

/// What has been placed so far.
#[derive(Clone)]
struct Placed {
    free_ns: Vec<i64>,
    ends_ns: Vec<Option<i64>>,
    slots: Vec<Slot>,
    left_ns: i64,
}

impl Placed {
    fn nothing(tasks: &[Task], cpus: usize) -> Self {
        Self {
            free_ns: vec![0; cpus],
            ends_ns: vec![None; tasks.len()],
            slots: Vec::new(),
            left_ns: tasks.iter().fold(0, |sum: i64, t| sum.saturating_add(t.ns)),
        }
    }

    /// When a task can start; `None` before all that it waits for are placed.
    fn start_ns(&self, task: &Task) -> Option<i64> {
        let free = match task.alone {
            true => self.free_ns.iter().max(),
            false => self.free_ns.iter().min(),
        };
        let mut start = *free?;
        for on in &task.waits {
            start = start.max((*self.ends_ns.get(*on)?)?);
        }
        Some(start)
    }

    fn place(&mut self, at: usize, task: &Task, start_ns: i64) {
        let end_ns = start_ns.saturating_add(task.ns.max(0));
        if task.alone {
            self.free_ns.fill(end_ns);
        } else if let Some(free) = self.free_ns.iter_mut().min() {
            *free = end_ns;
        }
        self.ends_ns[at] = Some(end_ns);
        self.left_ns = self.left_ns.saturating_sub(task.ns);
        self.slots.push(Slot {
            task: at,
            start_ns,
            end_ns,
        });
    }
}

/// Whenever a CPU is free, the most urgent task that can start: what the agent does,
/// as long as nothing runs alone.
fn in_order(tasks: &[Task], order: &[usize], cpus: usize) -> Vec<Slot> {
    let mut placed = Placed::nothing(tasks, cpus);
    while placed.slots.len() < tasks.len() {
        let open = order.iter().filter(|at| placed.ends_ns[**at].is_none());
        let starts = open.filter_map(|at| Some((placed.start_ns(&tasks[*at])?, *at)));
        // The first of those that start soonest.
        let Some((start_ns, at)) = starts.min_by_key(|(start, _)| *start) else {
            break;
        };
        placed.place(at, &tasks[at], start_ns);
    }
    placed.slots
}

/// Tries the orders in which tasks can start, the urgent ones first, and leaves out
/// what cannot be shorter than the best so far.
struct Search<'a> {
    tasks: &'a [Task],
    tails: &'a [i64],
    order: &'a [usize],
    best: Vec<Slot>,
    steps: usize,
    bound_ns: i64,
}

impl Search<'_> {
    fn run(&mut self, cpus: usize) {
        let mut open = vec![Placed::nothing(self.tasks, cpus)];
        while let Some(placed) = open.pop() {
            if self.steps >= STEPS || length(&self.best) <= self.bound_ns {
                return;
            }
            self.steps += 1;
            if placed.slots.len() == self.tasks.len() {
                if length(&placed.slots) < length(&self.best) {
                    self.best = placed.slots;
                }
                continue;
            }
            let last_ns = placed.slots.last().map_or(0, |slot| slot.start_ns);
            // The most urgent is pushed last, and tried first.
            for at in self.order.iter().rev() {
                let task = &self.tasks[*at];
                let start_ns = match placed.ends_ns[*at] {
                    None => placed.start_ns(task),
                    Some(_) => None,
                };
                if let Some(start_ns) = start_ns.filter(|start| *start >= last_ns)
                    && start_ns.saturating_add(self.tails[*at]) < length(&self.best)
                {
                    let mut next = placed.clone();
                    next.place(*at, task, start_ns);
                    if self.least_ns(&next) < length(&self.best) {
                        open.push(next);
                    }
                }
            }
        }
    }

    /// No way to go on is shorter.
    fn least_ns(&self, placed: &Placed) -> i64 {
        let free = placed.free_ns.iter();
        let busy = free.fold(placed.left_ns, |sum: i64, ns| sum.saturating_add(*ns));
        let open = self
            .order
            .iter()
            .filter(|at| placed.ends_ns[**at].is_none());
        let open = open.filter_map(|at| {
            let start = placed.start_ns(&self.tasks[*at])?;
            Some(start.saturating_add(self.tails[*at]))
        });
        let tail = open.max().unwrap_or(0);
        divided(busy, placed.free_ns.len())
            .max(tail)
            .max(length(&placed.slots))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn task(ns: i64, waits: &[usize]) -> Task {
        Task {
            ns,
            waits: waits.to_vec(),
            alone: false,
        }
    }

    #[test]
    fn a_chain_takes_as_long_as_it_is() {
        let tasks = [task(3, &[]), task(4, &[0]), task(1, &[])];
        let found = schedule(&tasks, 2).unwrap();
        assert_eq!((found.critical_ns, found.work_ns), (7, 8));
        assert_eq!((found.bound_ns, found.found_ns), (7, 7));
        assert_eq!(found.critical, [0, 1]);
        assert_eq!(found.order, [0, 1, 2]);
        assert!(found.is_best);
        assert_eq!(schedule(&tasks, 1).unwrap().found_ns, 8);
    }

    #[test]
    fn the_best_is_found_where_the_urgent_first_is_not_it() {
        // Longest first puts 3 with 3 and 2 with 2, so the last 2 begins at 5.
        let tasks = [3, 3, 2, 2, 2].map(|ns| task(ns, &[]));
        assert_eq!(length(&in_order(&tasks, &[0, 1, 2, 3, 4], 2)), 7);
        let found = schedule(&tasks, 2).unwrap();
        assert_eq!(
            (found.bound_ns, found.found_ns, found.is_best),
            (6, 6, true)
        );
    }

    #[test]
    fn alone_means_alone() {
        let mut tasks = vec![task(2, &[]), task(2, &[]), task(2, &[]), task(2, &[])];
        tasks[1].alone = true;
        let found = schedule(&tasks, 2).unwrap();
        assert_eq!((found.bound_ns, found.found_ns), (5, 6));
        assert!(found.is_best);
    }

    #[test]
    fn circles_and_strangers_have_no_schedule() {
        assert_eq!(schedule(&[task(1, &[1]), task(1, &[0])], 2), None);
        assert_eq!(schedule(&[task(1, &[7])], 2), None);
        assert_eq!(schedule(&[], 2).unwrap().found_ns, 0);
    }

    fn any_tasks() -> impl Strategy<Value = Vec<Task>> {
        let row = (0..50_i64, proptest::collection::vec(0..3_u8, 9), 0..8_u8);
        proptest::collection::vec(row, 0..9).prop_map(|rows| {
            let of = |(at, (ns, edges, alone)): (usize, &(i64, Vec<u8>, u8))| Task {
                ns: *ns,
                waits: (0..at).filter(|on| edges[*on] == 0).collect(),
                alone: *alone == 0,
            };
            rows.iter().enumerate().map(of).collect()
        })
    }

    proptest! {
        #[test]
        fn schedules_keep_all_rules(tasks in any_tasks(), cpus in 1..4_usize) {
            let found = schedule(&tasks, cpus).unwrap();
            let slot = |at: usize| found.slots.iter().find(|s| s.task == at).unwrap();
            prop_assert_eq!(found.slots.len(), tasks.len());
            for (at, task) in tasks.iter().enumerate() {
                let its = slot(at);
                prop_assert_eq!(its.end_ns - its.start_ns, task.ns);
                prop_assert!(task.waits.iter().all(|on| slot(*on).end_ns <= its.start_ns));
                let place = |at: usize| found.order.iter().position(|o| *o == at).unwrap();
                prop_assert!(task.waits.iter().all(|on| place(*on) < place(at)));
                let beside = |other: &&Slot| {
                    other.start_ns <= its.start_ns && its.start_ns < other.end_ns
                };
                let beside: Vec<_> = found.slots.iter().filter(beside).collect();
                prop_assert!(beside.len() <= cpus);
                let alone = beside.iter().any(|s| tasks[s.task].alone);
                prop_assert!(!alone || beside.len() <= 1);
            }
            prop_assert!(found.bound_ns <= found.found_ns);
            prop_assert!(found.found_ns <= found.work_ns);
            prop_assert!(found.is_best);
            let chain: i64 = found.critical.iter().map(|at| tasks[*at].ns).sum();
            prop_assert_eq!(chain, found.critical_ns);
        }
    }
}
