// BodyBudget: how many bytes of large request bodies may be in memory at once, over all connections. A connection
// reserves the length that its header announces (or the largest there may be) before it reads the body, and gives it
// back when the body has become a sealed memfd or was refused. Owner: Service. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace mayfly::api {

inline constexpr std::uint64_t kBodiesAtOnce = 256ull << 20;

class BodyBudget {
 public:
  explicit BodyBudget(std::uint64_t bytes = kBodiesAtOnce) : left_(bytes) {}
  BodyBudget(const BodyBudget&) = delete;
  BodyBudget& operator=(const BodyBudget&) = delete;

  // Gives itself back. The budget must outlive it.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() { reset(); }
    void reset() {
      if (BodyBudget* budget = std::exchange(budget_, nullptr)) budget->left_ += std::exchange(bytes_, 0);
    }

   private:
    friend class BodyBudget;
    Share(BodyBudget& budget, std::uint64_t bytes) : budget_(&budget), bytes_(bytes) {}
    BodyBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  // Nothing when there is not so much left.
  [[nodiscard]] std::optional<Share> reserve(std::uint64_t bytes) {
    if (bytes > left_) return std::nullopt;
    left_ -= bytes;
    return Share(*this, bytes);
  }
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_;
};

}  // namespace mayfly::api
